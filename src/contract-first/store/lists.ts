/**
 * The statements of lists with ranges, prefixes, or in a declared order, and the cursors of all lists. With a range on another field than
 * the order's, a page scans a limited number of records: it may be shorter than its limit although there is a next page.
 */
import { hash } from 'node:crypto';
import { parseInt64 } from '../json/exact-number.ts';
import { JsonText, type TextSource } from '../json/json-text.ts';
import { type Dialect, Statement } from './changes/statement.ts';
import type { Fields, Page, PageQuery, SqlStep, SqlSteps } from './collection.ts';
import type { Field, Order, Table } from './tables/table.ts';
import { fromText, isStorable, toStored } from './tables/values.ts';

/** How many records such a page scans. */
const MAX_SCANNED = 1000;

interface FoundPage {
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
interface Position {
  sequence: bigint;
  value: unknown;
}

interface Asked {
  table: Table;
  query: PageQuery;
  order: Partial<Order>;
  ranges: Range[];
  position: Position | undefined;
  /** SQL of a record. */
  json: string;
}

type Row = [sequence: bigint | string, value: unknown, text: string | null];

export const hasLists = ({ filters, ranges, prefixes, orders }: Table) =>
  ranges.length + prefixes.length + Object.keys(orders).length > 0 || filters.some(({ type }) => type === 'time');

/** The query with its values as they are stored, and without ranges that have no end: equal lists have equal cursors and cache entries. */
export function toStoredQuery({ filters, ranges }: Table, query: PageQuery): PageQuery {
  const asked: PageQuery & Fields = { ...query };
  for (const field of [...filters, ...ranges]) asked[field.name] = toQueryValue(field, query[field.name]);
  return asked;
}

function toQueryValue(field: Field, value: unknown): unknown {
  if (!isRange(value)) return toStored(field, value);
  const { from, below } = value;
  if (from === undefined && below === undefined) return undefined;
  return { from: toStored(field, from), below: toStored(field, below) };
}

/** Whether a list that `toStoredQuery` has made has no declared order and no ranges. */
export const isPlain = (table: Table, query: PageQuery) =>
  query.order === undefined && toRanges(table, query).length === 0;

/** Reads a page of a list that `toStoredQuery` has made; undefined if the cursor belongs to another list. */
export function* readPage(
  table: Table,
  query: PageQuery,
  dialect: Dialect,
  toJsonSql = dialect.toShownSql,
): SqlSteps<FoundPage | undefined> {
  const { limit, after } = query;
  const order: Partial<Order> = query.order === undefined ? {} : (table.orders[String(query.order)] as Order);
  const ranges = toRanges(table, query);
  const values = [
    ...table.filters.map(({ name }) => (isRange(query[name]) ? undefined : query[name])),
    ...ranges.flatMap(({ field, from, below }) => [field.name, from, below]),
    query.order,
  ];
  const position = after === undefined ? undefined : toPosition(after, values, order.field);
  if (after !== undefined && position === undefined) return undefined;
  if (!values.every(isStorable)) return { texts: [], next: undefined };
  const json = toJsonSql(table);
  const rows = (yield toPageSql({ table, query, order, ranges, position, json }, dialect)) as Row[];
  const texts: string[] = [];
  let seen = 0;
  while (seen < rows.length && texts.length < limit) {
    const [, , text] = rows[seen++] as Row;
    if (text !== null) texts.push(text);
  }
  const last = rows[seen - 1];
  // Conditions beside the order's own are tried on so many rows at most.
  const isScanned = ranges.some(({ field }) => field !== order.field);
  const isMore = seen < rows.length || (isScanned && rows.length === MAX_SCANNED);
  const next = last && isMore ? toCursor(BigInt(last[0]), values, order.field && String(last[1])) : undefined;
  return { texts, next };
}

export const toRecordPage = (found: FoundPage | undefined, source: TextSource): Page | undefined =>
  found && { body: JsonText.of<Fields[]>(`[${found.texts}]`, source), next: found.next };

function toPosition(cursor: string, values: readonly unknown[], field: Field | undefined): Position | undefined {
  const { id, position } = fromCursor(cursor, values, field !== undefined) ?? {};
  const value = field && position !== undefined ? fromText(field, position) : '';
  return id === undefined || value === undefined ? undefined : { sequence: id, value };
}

function toPageSql(asked: Asked, dialect: Dialect): SqlStep {
  const { table, query, ranges, position, json } = asked;
  const { field, isDown } = asked.order;
  const statement = new Statement(dialect);
  const bind = (of: Field, value: unknown) => dialect.toOrdered(of, statement.bind(of, value));
  const toConditions = ({ field: of, from, below }: Range) => [
    ...(from === undefined ? [] : [`${dialect.toOrdered(of, of.column)} >= ${bind(of, from)}`]),
    ...(below === undefined ? [] : [`${dialect.toOrdered(of, of.column)} < ${bind(of, below)}`]),
  ];
  const { sequence, filters } = table;
  const number: Field = { name: sequence, column: sequence, type: 'int64' };
  const keys = field ? [field, number] : [number];
  // Values must be bound in the order of their placeholders in the statement.
  const others = ranges.filter((range) => range.field !== field).flatMap(toConditions);
  const conditions = [
    ...filters
      .filter(({ name }) => query[name] !== undefined && !isRange(query[name]))
      .map((filter) => `${statement.toCompared(filter)} = ${statement.toCompared(filter, query[filter.name])}`),
    ...ranges.filter((range) => range.field === field).flatMap(toConditions),
  ];
  const columns = keys.map((key) => dialect.toOrdered(key, key.column));
  if (position) {
    const values = keys.map((key) => bind(key, key === number ? position.sequence : position.value));
    conditions.push(`(${columns}) ${isDown ? '<' : '>'} (${values})`);
  }
  const sql = `
    SELECT ${sequence}, ${field?.column ?? sequence}, ${others.length > 0 ? `CASE WHEN ${others.join(' AND ')} THEN ${json} END` : json}
    FROM ${dialect.nameOf(table)} ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
    ORDER BY ${columns.map((column) => (isDown ? `${column} DESC` : column))}
    LIMIT ${others.length > 0 ? MAX_SCANNED : query.limit + 1}`;
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

/** How many characters of the filters' digest a cursor has: enough to tell lists apart, which needs no security. */
const LENGTH = 11;

/**
 * The cursor after the record with this id, in a list with these filter values (undefined for unused filters). `position` is the record's
 * value of the field that the list is ordered by, unless it is ordered by id.
 */
export function toCursor(id: bigint, values: readonly unknown[] = [], position?: string): string {
  // Unused filters at the end are left out, so that old cursors stay valid when a filter is added at the end.
  const used = values.slice(0, values.findLastIndex((value) => value !== undefined) + 1);
  const text = `${id} ${used.length > 0 ? toDigest(used) : ''}`;
  return Buffer.from(position === undefined ? text : `${text} ${position}`).toString('base64url');
}

/**
 * The id in a cursor, and the position in one of a list in a declared order; undefined if the cursor is made up, or belongs to another
 * list.
 */
export function fromCursor(
  cursor: string,
  values: readonly unknown[],
  isSorted = false,
): { id: bigint; position: string | undefined } | undefined {
  const [first = '', , ...others] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const id = parseInt64(first);
  const position = isSorted ? others.join(' ') : undefined;
  return id !== undefined && toCursor(id, values, position) === cursor ? { id, position } : undefined;
}

function toDigest(values: readonly unknown[]): string {
  const texts = values.map((value) => (value === undefined ? null : String(value)));
  return hash('sha256', JSON.stringify(texts), 'base64url').slice(0, LENGTH);
}

/** The shortest and the longest cursor of lists ordered by id. */
export const EXTREME_CURSORS = [toCursor(1n), toCursor(-(2n ** 63n), [''])];
