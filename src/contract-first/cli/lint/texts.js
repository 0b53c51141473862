/** The rule of descriptions. */
import { resolveReference } from './references.js';

/** Fields inside a condition, or in the schema of a text, are described elsewhere or not at all. */
const CONDITION = /(?<!\/properties)\/(if|then|else|not|dependentSchemas|contentSchema)\//;

/** Requires a description of each part that a client sends or receives, in place or at the target of its `$ref`. */
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
