/** Reads the extensions of deprecated operations: `x-deprecated-at`, `x-sunset` and `x-successor`. */
import type { Deprecation, Operation } from '../../engine/contract/contract.ts';
import type { OperationNode } from '../../engine/contract/document.ts';
import type { Refuse } from '../../engine/schema/json.ts';

export function toDeprecation(source: OperationNode, refuse: Refuse): Deprecation | undefined {
  if (!source.deprecated) return undefined;
  return { at: dateIn('x-deprecated-at'), sunset: dateIn('x-sunset'), successor: source['x-successor'] };

  function dateIn(key: 'x-deprecated-at' | 'x-sunset'): Date | undefined {
    const said = source[key];
    if (said === undefined) return undefined;
    const date = new Date(said);
    // `new Date` reads 30 February as 2 March.
    const day = String(said).slice(0, 10);
    const isDate = !Number.isNaN(date.getTime()) && new Date(day).toISOString().startsWith(day);
    if (!isDate) refuse(`${key} is no date`);
    return date;
  }
}

/** The successor's URL is sent as it is, so its path must not have parameters. */
export function checkSuccessors(operations: Map<string, Operation>, refuse: Refuse): void {
  for (const { id, deprecation } of operations.values()) {
    if (deprecation?.successor === undefined) continue;
    const successor = operations.get(deprecation.successor);
    if (!successor || successor.path.includes('{')) {
      refuse(`operation ${id}: x-successor must be the operationId of one whose path has no parameters`);
    }
  }
}
