/** The numbers in the contract: bounds that can be kept exactly, and 64-bit integers that are nothing else. */
import { isInt64Schema } from '../json/int64.ts';
import type { Json, Refuse } from './contract.ts';

/** A number that a double cannot hold is fine in an example, and could not be kept as a bound. */
export function checkNumbers(node: Json, place: string, refuse: Refuse): void {
  if (typeof node === 'bigint') {
    if (!Number.isSafeInteger(Number(node))) refuse(`${place}: ${node} is too large to be kept exactly`);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  if (node.format === 'int64' && !isInt64Schema(node)) refuse(`${place}: int64 needs type: integer alone`);
  for (const keyword of isInt64Schema(node) ? ['enum', 'const', 'multipleOf'] : []) {
    if (keyword in node) refuse(`${place}: ${keyword} is not supported for int64`);
  }
  for (const [key, value] of Object.entries(node)) {
    if (key !== 'example' && key !== 'examples') checkNumbers(value, `${place}/${key}`, refuse);
  }
}
