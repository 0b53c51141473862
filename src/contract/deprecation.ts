/** What the contract says of deprecated operations: `x-deprecated-at`, `x-sunset` and `x-successor`. */
import type { Deprecation, Json, Operation, Refuse } from './contract.ts';

export function toDeprecation(source: Json, refuse: Refuse): Deprecation | undefined {
  if (!source.deprecated) return undefined;
  const at = new Date(source['x-deprecated-at']);
  const sunset = new Date(source['x-sunset']);
  if (Number.isNaN(at.getTime())) refuse('is deprecated, and needs its date: x-deprecated-at');
  if (Number.isNaN(sunset.getTime())) refuse('is deprecated, and needs the date of its removal: x-sunset');
  return { at, sunset, successor: source['x-successor'] };
}

/** The successor's URL is sent as it is, so its path must not have parameters. */
export function checkSuccessors(operations: Map<string, Operation>, refuse: Refuse): void {
  for (const { id, deprecation } of operations.values()) {
    const successor = deprecation && operations.get(deprecation.successor);
    if (deprecation && (!successor || successor.path.includes('{'))) {
      refuse(`operation ${id}: needs x-successor, the operationId of one whose path has no parameters`);
    }
  }
}
