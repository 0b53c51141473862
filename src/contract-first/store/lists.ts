/**
 * The statements of lists with ranges, prefixes, or in a declared order, for both databases. With a range on another field than the
 * order's, a page scans a limited number of records: it may be shorter than its limit although there is a next page.
 */
import { JsonText, type TextSource } from '../json/json-text.ts';
import type { Ask, Asking } from './asking.ts';
import type { Fields, Page, PageQuery } from './collection.ts';
import { fromCursor, fromSortedCursor, toCursor } from './cursors.ts';
import { type Dialect, Statement } from './statement.ts';
import type { Field, Order, Table } from './table.ts';
import { isStorable } from './texts.ts';
import { fromText, toStored } from './values.ts';

/** How many records such a page scans. */
const MOST = 1000;

export interface FoundPage {
  texts: string[];
  next: string | undefined;
}

/** `from` is inclusive, `below` exclusive; either may be undefined. */
interface Range {
  field: Field;
  from: unknown;
  below: unknown;
}

/** The last record of the previous page: its sequence number, and its value of the order's field. */
interface Place {
  sequence: bigint;
  value: unknown;
}

interface Asked {
  table: Table;
  query: PageQuery;
  order: Partial<Order>;
  ranges: Range[];
  place: Place | undefined;
}

type Row = [sequence: bigint | string, value: unknown, text: string | null];

export const hasLists = ({ filters, ranges, prefixes, orders }: Table) =>
  ranges.length + prefixes.length + Object.keys(orders).length > 0 || filters.some(({ type }) => type === 'time');

/** The query with its values as they are stored, and without ranges that have no end: equal lists have equal cursors and cache entries. */
export function toAsked({ filters, ranges }: Table, query: PageQuery): PageQuery {
  const asked: PageQuery & Fields = { ...query };
  for (const field of [...filters, ...ranges]) asked[field.name] = toAskedValue(field, query[field.name]);
  return asked;
}

function toAskedValue(field: Field, value: unknown): unknown {
  if (!isRange(value)) return toStored(field, value);
  const { from, below } = value;
  if (from === undefined && below === undefined) return undefined;
  return { from: toStored(field, from), below: toStored(field, below) };
}

/** Whether a list that `toAsked` has made has no declared order and no ranges. */
export const isPlain = (table: Table, query: PageQuery) =>
  query.order === undefined && toRanges(table, query).length === 0;

/** Reads a page of a list that `toAsked` has made; undefined if the cursor belongs to another list. */
export function* readPage(table: Table, query: PageQuery, dialect: Dialect): Asking<FoundPage | undefined> {
  const { limit, after } = query;
  const order: Partial<Order> = query.order === undefined ? {} : (table.orders[String(query.order)] as Order);
  const ranges = toRanges(table, query);
  const values = [
    ...table.filters.map(({ name }) => (isRange(query[name]) ? undefined : query[name])),
    ...ranges.flatMap(({ field, from, below }) => [field.name, from, below]),
    query.order,
  ];
  const place = after === undefined ? undefined : toPlace(after, values, order.field);
  if (after !== undefined && place === undefined) return undefined;
  if (!values.every(isStorable)) return { texts: [], next: undefined };
  const rows = (yield toPageSql({ table, query, order, ranges, place }, dialect)) as Row[];
  const texts: string[] = [];
  let seen = 0;
  while (seen < rows.length && texts.length < limit) {
    const [, , text] = rows[seen++] as Row;
    if (text !== null) texts.push(text);
  }
  const last = rows[seen - 1];
  // Conditions beside the order's own are tried on so many rows at most.
  const isScanned = ranges.some(({ field }) => field !== order.field);
  const isMore = seen < rows.length || (isScanned && rows.length === MOST);
  const next = last && isMore ? toCursor(BigInt(last[0]), values, order.field && String(last[1])) : undefined;
  return { texts, next };
}

export const toPage = (found: FoundPage | undefined, source: TextSource): Page | undefined =>
  found && { body: JsonText.of<Fields[]>(`[${found.texts}]`, source), next: found.next };

function toPlace(cursor: string, values: readonly unknown[], field: Field | undefined): Place | undefined {
  const sequence = field ? fromSortedCursor(cursor, values) : { id: fromCursor(cursor, values), place: '' };
  const value = field && sequence ? fromText(field, sequence.place) : '';
  return sequence?.id === undefined || value === undefined ? undefined : { sequence: sequence.id, value };
}

function toPageSql({ table, query, order: { field, isDown }, ranges, place }: Asked, dialect: Dialect): Ask {
  const statement = new Statement(dialect);
  const bind = (of: Field, value: unknown) => dialect.toOrdered(of, statement.bind(of, value));
  const toConditions = ({ field: of, from, below }: Range) => [
    ...(from === undefined ? [] : [`${dialect.toOrdered(of, of.column)} >= ${bind(of, from)}`]),
    ...(below === undefined ? [] : [`${dialect.toOrdered(of, of.column)} < ${bind(of, below)}`]),
  ];
  const { sequence, filters } = table;
  const number: Field = { name: sequence, column: sequence, type: 'int64' };
  const keys = field ? [field, number] : [number];
  // Values must be bound in the order of their places in the statement.
  const others = ranges.filter((range) => range.field !== field).flatMap(toConditions);
  const json = dialect.toJsonSql(table);
  const conditions = [
    ...filters
      .filter(({ name }) => query[name] !== undefined && !isRange(query[name]))
      .map((filter) => `${statement.toCompared(filter)} = ${statement.toCompared(filter, query[filter.name])}`),
    ...ranges.filter((range) => range.field === field).flatMap(toConditions),
  ];
  const columns = keys.map((key) => dialect.toOrdered(key, key.column));
  if (place) {
    const values = keys.map((key) => bind(key, key === number ? place.sequence : place.value));
    conditions.push(`(${columns}) ${isDown ? '<' : '>'} (${values})`);
  }
  const sql = `
    SELECT ${sequence}, ${field?.column ?? sequence}, ${others.length > 0 ? `CASE WHEN ${others.join(' AND ')} THEN ${json} END` : json}
    FROM ${dialect.nameOf(table)} ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
    ORDER BY ${columns.map((column) => (isDown ? `${column} DESC` : column))}
    LIMIT ${others.length > 0 ? MOST : query.limit + 1}`;
  return { sql, values: statement.values };
}

const isRange = (value: unknown): value is Omit<Range, 'field'> => typeof value === 'object' && value !== null;

function toRanges(table: Table, query: PageQuery): Range[] {
  const ranges = table.ranges.flatMap((field) => {
    const value: unknown = query[field.name];
    return isRange(value) ? { field, from: value.from, below: value.below } : [];
  });
  const prefixes = table.prefixes.flatMap((field) => {
    const asked = query[`${field.name}Begins`] as string | undefined;
    // Fields that ignore case are ordered by their lower-case letters.
    const begins = field.ignoresCase ? asked?.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : asked;
    return begins ? { field, from: begins, below: toEnd(begins) } : [];
  });
  return [...ranges, ...prefixes];
}

/** The first text after all texts with this prefix, in the order of code points, as in databases. Undefined if there is none. */
function toEnd(text: string): string | undefined {
  const points = Array.from(text, (character) => character.codePointAt(0) as number);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    // Skips the surrogates.
    if (last < 0x10ffff) return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  }
  return undefined;
}
