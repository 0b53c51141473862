/** Finds the target of a `$ref` with its location, the responses of an operation, and headers. */

/**
 * Returns the target of a reference. If the target is missing, returns an empty node, because Redocly's own rules
 * report that.
 */
export function resolveReference(source, position, ctx) {
  if (!source?.$ref) return { node: source ?? {}, location: position };
  const { node = {}, location = position } = ctx.resolve(source);
  return { node, location };
}

/** Returns the responses of an operation, each with the status as the contract has it: `200`, `4XX` or `default`. */
export function responsesOf(operation, ctx) {
  return Object.entries(operation.responses ?? {}).map(([status, source]) => {
    const { node: response, location } = resolveReference(source, ctx.location.child(['responses', status]), ctx);
    return { status, response, location };
  });
}

export function hasHeader(response, name) {
  return Object.keys(response.headers ?? {}).some((header) => header.toLowerCase() === name.toLowerCase());
}
