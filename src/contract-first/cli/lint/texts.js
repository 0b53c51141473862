/** The rule `descriptions`. */
import { resolveReference } from './references.js';

/**
 * Matches pointers to fields that need no description. A condition repeats fields that are described elsewhere.
 * `contentSchema` describes the content of a text.
 */
const CONDITION = /(?<!\/properties)\/(if|then|else|not|dependentSchemas|contentSchema)\//;

/**
 * Requires a description of everything that a client sends or receives. If a node is a reference, the description may
 * be next to the `$ref` or at its target.
 */
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
