/**
 * Builds the SQL of lists with ranges, prefixes, a declared order, `skip` or `count`. No single index helps a query
 * that sorts by one field and limits another to a range. A page of such a query scans at most MAX_SCANNED records, so
 * it may contain fewer records than its limit even if another page follows.
 */
import { JsonText, type TextSource } from '../json/json-text.ts';
import { type Dialect, Statement } from './changes/statement.ts';
import {
  type AllQuery,
  type Fields,
  InvalidValue,
  type Page,
  type PageQuery,
  type SqlStep,
  type SqlSteps,
} from './collection.ts';
import { fromCursor, toCursor } from './cursors.ts';
import { type Field, mayBeAbsent, type OrderKey, sequenceOf, type Table } from './tables/table.ts';
import { fromText, isStorable, toStored } from './tables/values.ts';

/** The most records that a page scans if no index finds the records in the query's range. */
const MAX_SCANNED = 1000;

interface FoundPage {
  texts: string[];
  next: string | undefined;
  total?: number;
}

/** The ends of a range, each with its operator in SQL. */
const ENDS = { from: '>=', above: '>', below: '<', upTo: '<=' };
const END_NAMES = Object.keys(ENDS) as End[];
type End = keyof typeof ENDS;

/** The condition that a field is in a range. Any end may be undefined. */
interface Range extends Partial<Record<End, unknown>> {
  field: Field;
}

interface Asked {
  table: Table;
  query: PageQuery;
  order: readonly OrderKey[];
  ranges: Range[];
  /**
   * The values of the order's fields in the last record of the previous page, with null for an absent value. The first
   * page is read without a position.
   */
  position: unknown[] | undefined;
  /** Whether the page scans at most MAX_SCANNED records, and may therefore be shorter than its limit. */
  isScanned: boolean;
  /** SQL that writes a record as JSON. */
  json: string;
}

type Row = [sequence: bigint | string, ...values: unknown[], text: string | null];

export const hasLists = ({ filters, ranges, prefixes, orders, mostSkipped, counts }: Table) =>
  counts ||
  mostSkipped + ranges.length + prefixes.length + Object.keys(orders).length > 0 ||
  filters.some(({ type }) => type === 'time');

/** Adds the tenant to the filters of a query, if the table has tenants. */
export const withTenant = <Query extends object>({ tenant }: Table, query: Query, value: unknown): Query =>
  tenant ? { ...query, [tenant.name]: value } : query;

/**
 * Converts the values of a query to their stored form, and removes ranges without ends. So queries of the same list
 * share cursors and cache entries.
 * @throws Error if the query lacks a required filter, and InvalidValue if it skips too many records
 */
export function toStoredQuery({ collection, filters, fixed, ranges, mostSkipped }: Table, query: PageQuery): PageQuery {
  const asked: PageQuery & Fields = { ...query };
  const missing = filters.slice(0, fixed).find(({ name }) => query[name] === undefined);
  if (missing) throw new Error(`a list of ${collection} needs ${missing.name}, and the query does not contain it`);
  if (asked.skip !== undefined && BigInt(asked.skip as number) > mostSkipped)
    throw new InvalidValue(`a list skips at most ${mostSkipped} records: use the link to the next page instead`);
  for (const field of [...filters, ...ranges]) asked[field.name] = toQueryValue(field, query[field.name]);
  return asked;
}

function toQueryValue(field: Field, value: unknown): unknown {
  if (!isRange(value)) return toStored(field, value);
  const ends = END_NAMES.flatMap((end) =>
    value[end] === undefined ? [] : [[end, toStored(field, value[end])] as const],
  );
  return ends.length > 0 ? Object.fromEntries(ends) : undefined;
}

/**
 * Whether a query from `toStoredQuery` is plain: it may filter by equality, but does not use a declared order, ranges,
 * prefixes, `skip` or `count`.
 */
export const isPlain = (table: Table, query: PageQuery) =>
  query.order === undefined && !isExact(query) && toRanges(table, query).length === 0;

/** Whether the query skips or counts records. Such a query must read all matching records. */
const isExact = ({ skip, count }: PageQuery & Fields) => skip !== undefined || count === true;

/** The options for reading a page. */
export interface Reading {
  dialect: Dialect;
  /** Returns SQL that writes a record as JSON. By default, the JSON omits the internal columns. */
  toJsonSql?: Dialect['toJsonSql'];
  /**
   * Whether to continue until `limit` matching records are found, even if more than MAX_SCANNED records must be
   * scanned.
   */
  isWhole?: boolean;
}

/** Reads the page for a query from `toStoredQuery`. Returns undefined if the cursor belongs to another list. */
export function* readPage(table: Table, query: PageQuery, reading: Reading): SqlSteps<FoundPage | undefined> {
  const { dialect, toJsonSql = dialect.toShownSql, isWhole = isExact(query) } = reading;
  const order = orderOf(table, query);
  const ranges = toRanges(table, query);
  const values = [
    ...table.filters.map(({ name }) => (isRange(query[name]) ? undefined : query[name])),
    ...ranges.flatMap((range) => [range.field.name, ...END_NAMES.map((end) => range[end])]),
    query.order,
  ];
  const position = query.after === undefined ? undefined : toPosition(table, order, query.after, values);
  if (query.after !== undefined && position === undefined) return undefined;
  const asked = { table, query, order, ranges, position, json: toJsonSql(table) };
  const isNone = !values.every(isStorable);
  const total = (query as Fields).count === true ? { total: isNone ? 0 : yield* readTotal(asked, dialect) } : {};
  if (isNone) return { texts: [], next: undefined, ...total };
  // If the range limits the first field of the order, the order's index also finds the records in the range. A range of
  // any other field must scan records, so the number of scanned records is limited.
  const isScanned = !isWhole && ranges.some(({ field }) => field !== order[0]?.field);
  const rows = (yield toPageSql({ ...asked, isScanned }, dialect)) as Row[];
  return { ...toPage(rows, query.limit, isScanned, (row) => toCursorOf(table, order, row, values)), ...total };
}

const orderOf = (table: Table, query: PageQuery): readonly OrderKey[] =>
  (query.order === undefined ? undefined : table.orders[String(query.order)]) ?? [
    { field: sequenceOf(table), isDown: false },
  ];

function toPage(rows: Row[], limit: number, isScanned: boolean, toNext: (row: Row) => string): FoundPage {
  const texts: string[] = [];
  let seen = 0;
  while (seen < rows.length && texts.length < limit) {
    const text = rows[seen++]?.at(-1) as string | null;
    if (text !== null) texts.push(text);
  }
  const last = rows[seen - 1];
  const isMore = seen < rows.length || (isScanned && rows.length === MAX_SCANNED);
  return { texts, next: last && isMore ? toNext(last) : undefined };
}

/** Reads all records of a list, as a JSON array. @throws Error if there are more than `most` */
export function* readAll(table: Table, { most, ...query }: AllQuery & Fields, reading: Reading): SqlSteps<string> {
  const stored = toStoredQuery(table, { ...query, limit: most } as PageQuery);
  const { texts, next } = (yield* readPage(table, stored, { ...reading, isWhole: true })) as FoundPage;
  if (next !== undefined) throw new Error(`a list of ${table.collection} has more than ${most} records`);
  return `[${texts}]`;
}

export function toRecordPage(found: FoundPage | undefined, source: TextSource): Page | undefined {
  if (!found) return undefined;
  const { texts, ...page } = found;
  return { body: JsonText.of<Fields[]>(`[${texts}]`, source), ...page };
}

/**
 * Returns those fields of an order that need extra values in a cursor. The sequence number is not among them, because
 * every cursor contains it anyway.
 */
export const placedIn = (table: Table, order: readonly OrderKey[]) =>
  order.filter(({ field }) => field.column !== table.sequence).map(({ field }) => field);

/**
 * Whether the position in a cursor is a JSON list of the fields' values. A single value that is never absent is written
 * as plain text instead.
 */
const isList = (fields: readonly Field[]) => fields.length > 1 || fields.some(mayBeAbsent);

/**
 * Writes the values of the order's fields as text for a cursor. Returns undefined if the list is sorted by sequence
 * numbers only.
 */
export function toPlace(fields: readonly Field[], values: readonly unknown[]): string | undefined {
  if (isList(fields)) return JSON.stringify(values.map((value) => (value === null ? null : String(value))));
  return fields.length > 0 ? String(values[0]) : undefined;
}

function toCursorOf(table: Table, order: readonly OrderKey[], row: Row, values: readonly unknown[]): string {
  const places = order.flatMap(({ field }, index) => (field.column === table.sequence ? [] : [row[index + 1]]));
  return toCursor(BigInt(row[0]), values, toPlace(placedIn(table, order), places));
}

function toPosition(table: Table, order: readonly OrderKey[], cursor: string, values: readonly unknown[]) {
  const fields = placedIn(table, order);
  const { id, position = '' } = fromCursor(cursor, values, fields.length > 0) ?? {};
  if (id === undefined) return undefined;
  // `fromCursor` has already checked the digest, so a cursor that the store wrote contains one value for each field.
  const texts: (string | null)[] = isList(fields) ? fromJson(position, fields.length) : [position];
  const places = new Map(fields.map((field, index) => [field, fromPlace(field, texts[index])]));
  if ([...places.values()].includes(undefined)) return undefined;
  return order.map(({ field }) => (places.has(field) ? places.get(field) : id));
}

/**
 * Parses a JSON list of `count` texts. Returns an empty list for any other text: only a client that invents cursors can
 * send one.
 */
function fromJson(text: string, count: number): (string | null)[] {
  try {
    const list = JSON.parse(text);
    return Array.isArray(list) && list.length === count ? list : [];
  } catch {
    return [];
  }
}

function fromPlace(field: Field, text: string | null | undefined): unknown {
  if (text === null) return mayBeAbsent(field) ? null : undefined;
  return typeof text === 'string' ? fromText(field, text) : undefined;
}

function* readTotal(
  { table, query, order, ranges }: Pick<Asked, 'table' | 'query' | 'order' | 'ranges'>,
  dialect: Dialect,
): SqlSteps<number> {
  const writer = new PageWriter(
    { table, query, order, ranges, position: undefined, isScanned: false, json: '' },
    dialect,
  );
  const where = toWhere(writer.filter());
  const sql = `SELECT count(*) FROM ${dialect.nameOf(table)} ${where}`;
  const [[total]] = (yield { sql, values: writer.values }) as [[unknown]];
  return Number(total);
}

const toWhere = (conditions: readonly string[]) => (conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '');

/**
 * Builds the statement of a page. Records without a value come last, both in ascending and in descending order, but no
 * index sorts like that. If the first field of the order may be absent, the statement therefore reads two ranges of the
 * index: first the records with a value, then the records without one.
 */
function toPageSql(asked: Asked, dialect: Dialect): SqlStep {
  const { query, order, position, isScanned } = asked;
  const [{ field: first }, ...others] = order as [OrderKey, ...OrderKey[]];
  const writer = new PageWriter(asked, dialect);
  const skip = Number((query as Fields).skip ?? 0);
  const most = isScanned ? MAX_SCANNED : query.limit + 1;
  const page = `LIMIT ${most}${skip > 0 ? ` OFFSET ${skip}` : ''}`;
  if (!mayBeAbsent(first)) return { sql: `${writer.select(order, position)} ${page}`, values: writer.values };
  const present = order.map((key, index) => (index === 0 ? { ...key, isPresent: true } : key));
  const parts = [
    ...(position?.[0] === null ? [] : [[`${first.column} IS NOT NULL`, present, position] as const]),
    [`${first.column} IS NULL`, others, position?.[0] === null ? position.slice(1) : undefined] as const,
  ].map(
    ([condition, keys, place]) =>
      `SELECT * FROM (${writer.select(keys, place, condition)} LIMIT ${skip + most}) AS part`,
  );
  const sql = `SELECT * FROM (${parts.join(' UNION ALL ')}) AS found ORDER BY ${writer.toOrderBy(order, true)} ${page}`;
  return { sql, values: writer.values };
}

/** A field to sort by. `isPresent` is true if the statement only reads records with a value in this field. */
type Key = OrderKey & { isPresent?: boolean };

/**
 * Writes the parts of a page's statement. Every method binds its values, so call the methods in the order of their
 * parts in the SQL.
 */
class PageWriter {
  readonly #asked: Asked;
  readonly #dialect: Dialect;
  readonly #statement: Statement;

  constructor(asked: Asked, dialect: Dialect) {
    this.#asked = asked;
    this.#dialect = dialect;
    this.#statement = new Statement(dialect);
  }

  get values(): unknown[] {
    return this.#statement.values;
  }

  select(keys: readonly Key[], position: readonly unknown[] | undefined, ...more: string[]): string {
    const { table, order, ranges, json, isScanned } = this.#asked;
    const isOwn = ({ field }: Range) => field === order[0]?.field;
    const scanned = isScanned ? ranges.filter((range) => !isOwn(range)).flatMap((range) => this.#toRange(range)) : [];
    const record = scanned.length > 0 ? `CASE WHEN ${scanned.join(' AND ')} THEN ${json} END` : json;
    const columns = order.map(({ field }, index) => `${field.column} AS ${toAlias(index)}`);
    const conditions = [...this.filter(isScanned ? isOwn : undefined), ...more];
    if (position) conditions.push(this.#toAfter(keys, position, true));
    return `SELECT ${table.sequence} AS _sequence, ${columns}, ${record} AS _record
      FROM ${this.#dialect.nameOf(table)} ${toWhere(conditions)} ORDER BY ${this.toOrderBy(keys)}`;
  }

  filter(isAsked: (range: Range) => boolean = () => true): string[] {
    const { table, query, ranges } = this.#asked;
    const statement = this.#statement;
    const used = table.filters.filter(({ name }) => query[name] !== undefined && !isRange(query[name]));
    return [
      ...used.map((field) => `${statement.toCompared(field)} = ${statement.toCompared(field, query[field.name])}`),
      ...ranges.filter(isAsked).flatMap((range) => this.#toRange(range)),
    ];
  }

  /**
   * Writes the list of ORDER BY. With `isFound`, it names the columns that a subquery returns; otherwise it names the
   * columns of the table.
   */
  toOrderBy(keys: readonly Key[], isFound = false): string {
    const parts = keys.flatMap(({ field, isDown, isPresent }, index) => {
      const column = isFound ? toAlias(index) : field.column;
      const ordered = `${this.#dialect.toOrdered(field, column)}${isDown ? ' DESC' : ''}`;
      return mayBeAbsent(field) && !isPresent ? [`(${column} IS NULL)`, ordered] : [ordered];
    });
    return parts.join(', ');
  }

  #toRange({ field, ...ends }: Range): string[] {
    const own = this.#dialect.toOrdered(field, field.column);
    return END_NAMES.flatMap((end) =>
      ends[end] === undefined ? [] : [`${own} ${ENDS[end]} ${this.#bind(field, ends[end])}`],
    );
  }

  /**
   * Writes the condition that a record comes after the given position. If possible, the condition begins with a range
   * of the first field, because an index finds that range quickly.
   */
  #toAfter(keys: readonly Key[], position: readonly unknown[], isFirst = false): string {
    const [{ field, isDown, isPresent }, ...others] = keys as [Key, ...Key[]];
    const isPlain = (key: Key) => key.isDown === isDown && (key.isPresent || !mayBeAbsent(key.field));
    if (keys.every(isPlain)) return this.#toRowAfter(keys, position, isDown);
    const [value, ...rest] = position;
    if (value === null) return `(${field.column} IS NULL AND ${this.#toAfter(others, rest)})`;
    const own = this.#dialect.toOrdered(field, field.column);
    const lead =
      isFirst && isPlain(keys[0] as Key) ? `${own} ${isDown ? '<=' : '>='} ${this.#bind(field, value)} AND ` : '';
    const absent = mayBeAbsent(field) && !isPresent ? `${field.column} IS NULL OR ` : '';
    const beyond = `${absent}${own} ${isDown ? '<' : '>'} ${this.#bind(field, value)}`;
    return `${lead}(${beyond} OR (${own} = ${this.#bind(field, value)} AND ${this.#toAfter(others, rest)}))`;
  }

  #toRowAfter(keys: readonly Key[], position: readonly unknown[], isDown: boolean): string {
    const columns = keys.map(({ field }) => this.#dialect.toOrdered(field, field.column));
    const values = keys.map(({ field }, index) => this.#bind(field, position[index]));
    return `(${columns}) ${isDown ? '<' : '>'} (${values})`;
  }

  #bind(field: Field, value: unknown): string {
    return this.#dialect.toOrdered(field, this.#statement.bind(field, value));
  }
}

const toAlias = (index: number) => `_key${index}`;

const isRange = (value: unknown): value is Omit<Range, 'field'> => typeof value === 'object' && value !== null;

function toRanges(table: Table, query: PageQuery): Range[] {
  const ranges = table.ranges.flatMap((field) => {
    const value: unknown = query[field.name];
    return isRange(value) ? { field, ...value } : [];
  });
  const prefixes = table.prefixes.flatMap((field) => {
    const asked = query[`${field.name}Begins`] as string | undefined;
    // A field that ignores case is compared in lower case, so the prefix is also converted.
    const begins = field.ignoresCase ? asked?.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : asked;
    return begins ? { field, from: begins, below: toEnd(begins) } : [];
  });
  return [...ranges, ...prefixes];
}

/**
 * Returns the first text that comes after all texts with this prefix, in the order of code points, which both databases
 * use. Returns undefined if no such text exists.
 */
function toEnd(text: string): string | undefined {
  const points = Array.from(text, (character) => character.codePointAt(0) as number);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    // U+E000 follows U+D7FF, because the code points between them are surrogates.
    if (last < 0x10ffff) return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
  }
  return undefined;
}
