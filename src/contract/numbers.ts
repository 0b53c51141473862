/** The numbers in the contract: bounds that can be kept exactly, and 64-bit integers that are integers. */
import type { Json, Refuse } from './contract.ts';

const INT64_TYPES = ['integer', 'string', 'boolean', 'null'];

/** A number that a double cannot hold is fine in an example, and could not be kept as a bound. */
export function checkNumbers(node: Json, place: string, refuse: Refuse): void {
  if (typeof node === 'bigint') {
    if (!Number.isSafeInteger(Number(node))) refuse(`${place}: ${node} is too large to be kept exactly`);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  const types: string[] = [node.type ?? []].flat();
  if (node.format === 'int64' && !(types.includes('integer') && types.every((type) => INT64_TYPES.includes(type)))) {
    refuse(`${place}: int64 needs type: integer, alone or beside string, boolean or null`);
  }
  for (const [key, value] of Object.entries(node)) {
    if (key !== 'example' && key !== 'examples') checkNumbers(value, `${place}/${key}`, refuse);
  }
}
