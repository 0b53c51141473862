/** Look-ups for the rules: the target of a `$ref` with its position, responses, and headers. */

/** Returns an empty node if the target is missing: Redocly's own rules report that. */
export function resolveReference(source, position, ctx) {
  if (!source?.$ref) return { node: source ?? {}, location: position };
  const { node = {}, location = position } = ctx.resolve(source);
  return { node, location };
}

/** The responses of an operation, each with its status as it is written in the contract: `200`, `4XX`, `default`. */
export function responsesOf(operation, ctx) {
  return Object.entries(operation.responses ?? {}).map(([status, source]) => {
    const { node: response, location } = resolveReference(source, ctx.location.child(['responses', status]), ctx);
    return { status, response, location };
  });
}

export function hasHeader(response, name) {
  return Object.keys(response.headers ?? {}).some((header) => header.toLowerCase() === name.toLowerCase());
}
