/** What the contract and the handlers lack of each other. */

/** Each problem in a line of its own; none where every operation has its handler and every handler its operation. */
export function describeUnmatched(operations: readonly string[], handlers: readonly string[]): string[] {
  const missing = operations.filter((id) => !handlers.includes(id));
  const unused = handlers.filter((id) => !operations.includes(id));
  return [
    ...missing.map((id) => `operation ${id} has no handlers/${id}.ts`),
    ...unused.map((id) => `handlers/${id}.ts has no operation ${id} in the contract`),
  ];
}
