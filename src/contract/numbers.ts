/** The numbers in the contract: bounds that can be kept exactly, and 64-bit integers that are integers. */
import type { Json, Refuse } from './contract.ts';

/** A number that a double cannot hold is fine in an example, and could not be kept as a bound. */
export function checkNumbers(node: Json, place: string, refuse: Refuse): void {
  if (typeof node === 'bigint') {
    if (!Number.isSafeInteger(Number(node))) refuse(`${place}: ${node} is too large to be kept exactly`);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  if (node.format === 'int64' && ![node.type].flat().includes('integer')) refuse(`${place}: int64 needs type: integer`);
  for (const [key, value] of Object.entries(node)) {
    if (key !== 'example' && key !== 'examples') checkNumbers(value, `${place}/${key}`, refuse);
  }
}
