/** Checks the numbers in the contract: each must be exact, and `int64` must be of type integer. */
import { EXACT } from '../../engine/contract/numbers.ts';
import { isNode, type Keywords, type Refuse } from '../../engine/schema/json.ts';
import { toDouble } from '../../json/exact-number.ts';
import { toStep } from '../../json/pointer.ts';

const INT64_TYPES = ['integer', 'string', 'boolean', 'null'];

/** A number that a double cannot hold is allowed in examples; elsewhere it would be rounded. */
export function checkNumbers(node: unknown, place: string, refuse: Refuse): void {
  if (typeof node === 'bigint') {
    const isKept = EXACT.includes(place.slice(place.lastIndexOf('/') + 1)) || toDouble(node) !== undefined;
    if (!isKept) refuse(`${place}: ${node} is too large to be kept exactly`);
    return;
  }
  if (!isNode(node)) return;
  const { type, format }: Keywords = node;
  const types = [type ?? []].flat();
  if (format === 'int64' && !(types.includes('integer') && types.every((type) => INT64_TYPES.includes(type)))) {
    refuse(`${place}: int64 needs type: integer, alone or beside string, boolean or null`);
  }
  for (const [key, value] of Object.entries(node)) {
    if (key !== 'example' && key !== 'examples') checkNumbers(value, `${place}/${toStep(key)}`, refuse);
  }
}
