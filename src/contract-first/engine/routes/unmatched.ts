/** Operations without a handler, and handlers without an operation. */

/** Each problem in a line of its own; empty where all match. */
export function describeUnmatched(operations: readonly string[], handlers: readonly string[]): string[] {
  const missing = operations.filter((id) => !handlers.includes(id));
  const unused = handlers.filter((id) => !operations.includes(id));
  return [
    ...missing.map((id) => `operation ${id} has no handlers/${id}.ts`),
    ...unused.map((id) => `handlers/${id}.ts has no operation ${id} in the contract`),
  ];
}
