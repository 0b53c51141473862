/** The rule `descriptions`. */
import { resolveReference } from './references.js';

/**
 * Matches pointers to fields that need no description: in a condition, which repeats fields, or in the schema of a
 * text's content.
 */
const CONDITION = /(?<!\/properties)\/(if|then|else|not|dependentSchemas|contentSchema)\//;

/** Requires a description of everything that a client sends or receives, next to its `$ref` or at the target. */
export function descriptions() {
  return {
    Operation: (operation, ctx) => check(operation, `operation ${operation.operationId}`, ctx.location, ctx),
    Parameter: (parameter, ctx) => check(parameter, `parameter ${parameter.name}`, ctx.location, ctx),
    Header: (header, ctx) => check(header, `header ${ctx.key}`, ctx.location, ctx),
    RequestBody: (body, ctx) => check(body, 'request body', ctx.location, ctx),
    NamedSchemas: (schemas, ctx) => checkEach(schemas, 'schema', ctx),
    SchemaProperties(fields, ctx) {
      if (!CONDITION.test(ctx.location.pointer)) checkEach(fields, 'field', ctx);
    },
  };
}

function checkEach(nodes, kind, ctx) {
  for (const [name, node] of Object.entries(nodes)) check(node, `${kind} ${name}`, ctx.location.child(name), ctx);
}

function check(source, name, location, ctx) {
  if (source?.description || resolveReference(source, location, ctx).node.description) return;
  ctx.report({ message: `The ${name} must have a description.`, location });
}
