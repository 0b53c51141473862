/** Finds cursors that are shorter than a declared order needs: the list's own link to its next page would be answered with 400. */

import type { Operation, Parameter } from '../../engine/contract/contract.ts';
import { keywordsOf, type Refuse, type Schema } from '../../engine/schema/json.ts';
import { mergeAllOf } from '../../engine/schema/value-types.ts';
import type { AnyDescription, Column } from '../../store/description.ts';
import { toCursor } from '../../store/lists.ts';
import { findLimit } from '../read/parameters.ts';
import { type Checking, findWitness } from '../schema/witnesses.ts';
import { findKept, type Kept, successesOf } from './unfit-records.ts';
import { fieldsOf } from './unstorable-fields.ts';

/** An order that a parameter of the query names is proven to be asked for; each other may be. */
export function checkCursors(
  operation: Operation,
  all: Kept[],
  checking: Checking,
  { refuse, warn }: { refuse: Refuse; warn: Refuse },
): void {
  const { method, parameters } = operation;
  const lists = successesOf(operation).map(({ schema }) => findKept(all, fieldsOf(schema)));
  const kept = lists.find((found) => found)?.kept;
  const cursor = parameters.find(
    ({ name, in: place, isOpaque }) => place === 'query' && (isOpaque || name === 'after'),
  );
  if (method !== 'GET' || !kept || !cursor || !findLimit(parameters)) return;
  const { name, schema, int64s } = cursor;
  const check = checking.buildCheck(schema, { name: `parameter ${name}`, at: '/it', int64s }, () => {});
  const { asked, others } = ordersOf(kept.description, parameters);
  for (const [order, field] of [...asked, ...others]) {
    const longest = longestCursor(
      fieldsOf(kept.stored)[field] as Schema,
      kept.description.columns[field] as Column,
      checking,
    );
    const problems = check(longest);
    const words = `parameter ${name}: cannot be the cursor of the order ${order}, which may have ${longest.length} characters`;
    if (problems)
      (asked.some(([one]) => one === order) ? refuse : warn)(`operation ${operation.id}: ${words}: ${problems[0]}`);
  }
}

type Orders = [order: string, field: string][];

function ordersOf({ lists = {} }: AnyDescription, parameters: Parameter[]): { asked: Orders; others: Orders } {
  const named = parameters.flatMap(({ in: place, schema }) =>
    place === 'query' ? (keywordsOf(schema).enum ?? []) : [],
  );
  const orders = Object.entries(lists.orders ?? {}).map(([order, field]): Orders[0] => [
    order,
    field.replace(/^-/, ''),
  ]);
  const asked = orders.filter(([order]) => named.includes(order));
  return { asked, others: asked.length > 0 ? [] : orders };
}

/** The most bytes of a text in an index, and a letter of one, two and four bytes. */
const MOST_BYTES = 2600;
const LETTERS = ['x', 'é', '🐕'];

/** The cursor behind a record with the longest value of the field. */
function longestCursor(field: Schema, column: Column, checking: Checking): string {
  const cursors = longValuesOf(field, column, checking).map((value) => toCursor(-(2n ** 63n), [''], String(value)));
  return cursors.reduce((longest, cursor) => (cursor.length > longest.length ? cursor : longest));
}

function longValuesOf(field: Schema, { type }: Column, checking: Checking): unknown[] {
  const { minimum, maximum, maxLength = MOST_BYTES } = mergeAllOf(field);
  if (type === 'time') return ['2026-12-31T23:59:59.999Z'];
  if (type === 'uuid') return ['01234567-89ab-4cde-8f01-23456789abcd'];
  if (type === 'number') return [0.1 + 0.2];
  if (type !== 'text') return [minimum ?? (type === 'int64' ? -(2n ** 63n) : -(2 ** 31)), maximum ?? ''];
  // The patterns are not judged yet.
  if (!checking.isLinear) return [''];
  const texts = LETTERS.map((letter) => letter.repeat(Math.min(maxLength, MOST_BYTES / Buffer.byteLength(letter))));
  return ['', ...texts.filter((text) => !findWitness([text], true, field, checking))];
}
