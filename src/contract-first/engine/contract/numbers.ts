/** Parses the contract's JSON without losing digits of its numbers. */
import { parse, parseNumberAndBigInt } from 'lossless-json';
import { isNode } from '../schema/json.ts';

/** Keywords with numbers that must keep every digit. */
export const EXACT = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'default'];
const LARGE = new RegExp(`"(${EXACT.join('|')})":-?[0-9]{16}`);

/** Parses JSON without loss: each whole number becomes a bigint. */
export const parseWithBigints = (json: string): unknown => parse(json, null, parseNumberAndBigInt);

/**
 * Works like JSON.parse, except that an integer above 2^53 becomes a bigint if it is the value of a bound or of a
 * default.
 */
export function parseWithBounds(json: string): unknown {
  if (!LARGE.test(json)) return JSON.parse(json);
  const toNumber = (key: string, value: unknown) => {
    const isKept = EXACT.includes(key) && !Number.isSafeInteger(Number(value));
    return typeof value === 'bigint' && !isKept ? Number(value) : value;
  };
  return parse(json, toNumber, parseNumberAndBigInt);
}

/** Replaces each bigint in the node by the nearest double. */
export function toDoubles<Kind>(node: Kind): Kind;
export function toDoubles(node: unknown): unknown {
  if (typeof node === 'bigint') return Number(node);
  if (Array.isArray(node)) return node.map(toDoubles);
  if (!isNode(node)) return node;
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, toDoubles(value)]));
}
