/** Checks the numbers in the contract: each must be exact, and `int64` must be of type integer. */
import { parse, parseNumberAndBigInt } from 'lossless-json';
import { toDouble } from '../../json/exact-number.ts';
import { toStep } from '../../json/pointer.ts';
import { isNode, type Keywords, type Refuse } from '../schema/json.ts';

const INT64_TYPES = ['integer', 'string', 'boolean', 'null'];

/** Keywords whose numbers need every digit. */
const EXACT = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'default'];
const LARGE = new RegExp(`"(${EXACT.join('|')})":-?[0-9]{16}`);

/** Parses JSON without loss: each whole number is a bigint. */
export const parseWithBigints = (json: string): unknown => parse(json, null, parseNumberAndBigInt);

/** Parses like JSON.parse, except that integers beyond 2^53 in bounds and defaults become `bigint`. */
export function parseWithBounds(json: string): unknown {
  if (!LARGE.test(json)) return JSON.parse(json);
  const toNumber = (key: string, value: unknown) => {
    const isKept = EXACT.includes(key) && !Number.isSafeInteger(Number(value));
    return typeof value === 'bigint' && !isKept ? Number(value) : value;
  };
  return parse(json, toNumber, parseNumberAndBigInt);
}

/** The node with each bigint as the nearest double. */
export function toDoubles<Kind>(node: Kind): Kind;
export function toDoubles(node: unknown): unknown {
  if (typeof node === 'bigint') return Number(node);
  if (Array.isArray(node)) return node.map(toDoubles);
  if (!isNode(node)) return node;
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, toDoubles(value)]));
}

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
