/** The numbers in the contract: bounds must be exact as a double, and `int64` must be of type integer. */
import type { Json, Refuse } from '../schema/json.ts';

const INT64_TYPES = ['integer', 'string', 'boolean', 'null'];

/** A number that a double cannot hold is allowed in an example, but as a bound it would be rounded. */
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
