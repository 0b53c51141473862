/**
 * Reads records, and pages in the order of creation. PostgreSQL writes them as JSON text. A single statement answers
 * all waiting reads of a kind.
 */
import { JsonText, type TextSource } from '../../json/json-text.ts';
import type { Fields, Page } from '../collection.ts';
import { toCursor } from '../cursors.ts';
import type { ColumnType } from '../tables/description.ts';
import type { Field, Table } from '../tables/table.ts';
import { toLookupValue } from '../tables/values.ts';
import type { BatchLoader } from './coalescing.ts';
import type { PostgresConnection } from './connection.ts';
import { toArraySql, toCompared, toShownSql } from './dialect.ts';

interface PageAsked {
  limit: number;
  after: bigint;
  /** The values of all filters of the table, in order. The value of an unused filter is undefined. */
  values: readonly unknown[];
}

/**
 * Pages that one statement reads, because their queries use the same filters (`used`). `asked` maps the key of each
 * page to its query.
 */
interface Group {
  used: Field[];
  asked: Map<string, PageAsked>;
}

type PageRow = [text: string, last: string | null, hasMore: 't' | 'f'];

export function buildListRecords(schema: string, table: Table, source: TextSource): BatchLoader<PageAsked, Page> {
  /** The SQL for each combination of filters, written when the combination is first used. */
  const statements = new Map<string, string>();

  async function ask(connection: PostgresConnection, name: string, { used, asked }: Group): Promise<[string, Page][]> {
    const sql = statements.get(name) ?? buildSql(schema, table, used);
    statements.set(name, sql);
    const all = [...asked.values()];
    const rows = await connection.query(sql, [
      all.map(({ limit }) => limit),
      all.map(({ after }) => after),
      ...used.map((field) => all.map(({ values }) => toLookupValue(values[table.filters.indexOf(field)]))),
    ]);
    return [...asked].map(([key, { values }], index) => [key, toPage(rows[index] as PageRow, values, source)]);
  }

  return async (connection, asked) => {
    const groups = new Map<string, Group>();
    const keys = asked.map((one) => {
      const used = table.filters.filter((_field, index) => one.values[index] !== undefined);
      const name = used.map(({ column }) => column).join();
      const group = groups.get(name) ?? { used, asked: new Map() };
      groups.set(name, group);
      const key = `${name} ${one.limit} ${one.after} ${JSON.stringify(one.values.map(String))}`;
      group.asked.set(key, one);
      return key;
    });
    const pages = new Map<string, Page>();
    for (const [name, group] of groups) {
      for (const [key, page] of await ask(connection, name, group)) pages.set(key, page);
    }
    return keys.map((key) => pages.get(key) as Page);
  };
}

/**
 * Returns the SQL of a statement that reads several pages. For each page, the statement reads one record more than the
 * limit, to find out whether a next page follows. The required filters and one optional filter are written as a range
 * of (columns, id). If they were written as equalities, PostgreSQL might scan the index of ids instead, and read all
 * records that do not match.
 */
function buildSql(schema: string, table: Table, used: Field[]): string {
  const { name, sequence: id } = table;
  const all = used.map((field) => ({
    own: toCompared(field, field.column),
    asked: toCompared(field, `_${field.column}`),
  }));
  const [leading, others] = [all.slice(0, table.fixed + 1), all.slice(table.fixed + 1)];
  const [own, asked] = [leading.map((one) => one.own), leading.map((one) => one.asked)];
  const order = [...own, id].join(', ');
  const range = leading.length > 0 ? `(${order}) > (${asked}, _after) AND (${own}) <= (${asked})` : `${id} > _after`;
  const conditions = [range, ...others.map((one) => `${one.own} = ${one.asked}`)];
  const arrays = used.map((field, index) => `, ${toArraySql(field, index + 3)}`);
  return `
    SELECT page.*
    FROM unnest($1::bigint[], $2::bigint[]${arrays.join('')})
      WITH ORDINALITY AS _asked (_most, _after${used.map(({ column }) => `, _${column}`).join('')}, _position),
    LATERAL (
      SELECT '[' || coalesce(string_agg(_record, ',' ORDER BY _number) FILTER (WHERE _number <= _most), '') || ']',
        max(_sequence) FILTER (WHERE _number = _most),
        count(*) > _most
      FROM (
        SELECT ${id} AS _sequence, ${toShownSql(table)} AS _record, row_number() OVER (ORDER BY ${id}) AS _number
        FROM (
          SELECT * FROM ${schema}.${name} WHERE ${conditions.join(' AND ')} ORDER BY ${order} LIMIT _most + 1
        ) AS found
      ) AS numbered
    ) AS page
    ORDER BY _position`;
}

function toPage([text, last, hasMore]: PageRow, values: readonly unknown[], source: TextSource): Page {
  const next = hasMore === 't' ? toCursor(BigInt(last as string), values) : undefined;
  return { body: JsonText.of<Fields[]>(text, source), next };
}

/** The types of the requested ids that are numbers. A client may ask for an integer of more than 32 bits. */
const ASKED_TYPES: Partial<Record<ColumnType, string>> = { int32: 'bigint', number: 'double precision' };

/**
 * Reads records as one text with a line for each record, because splitting a text into lines costs less than reading
 * rows. JSON text contains no line breaks.
 */
export function buildGetRecords(
  schema: string,
  table: Table,
  source: TextSource,
): BatchLoader<unknown, JsonText<Fields> | undefined> {
  const { name, id } = table;
  const isInt64 = id.type === 'int64';
  // A line begins with the id if the id is an int64. Other ids may contain spaces and line breaks. So their lines begin
  // with the position of the id in the list of requested ids instead.
  const sql = isInt64
    ? `SELECT string_agg(${id.column} || ' ' || ${toShownSql(table)}, E'\\n')
       FROM ${schema}.${name} WHERE ${id.column} = ANY ($1::bigint[])`
    : `SELECT string_agg(_position || ' ' || ${toShownSql(table)}, E'\\n')
       FROM ${schema}.${name} JOIN unnest($1::${ASKED_TYPES[id.type] ?? 'text'}[]) WITH ORDINALITY AS _asked (_id, _position) ON ${id.column} = _id`;
  return async (connection, ids) => {
    const asked = isInt64 ? `{${ids.join()}}` : ids.map(toLookupValue);
    const [[lines]] = (await connection.query(sql, [asked])) as [[string | null]];
    const texts = new Map(lines?.split('\n').map(toEntry));
    return ids.map((one, index) => {
      const text = texts.get(String(isInt64 ? one : index + 1));
      return text === undefined ? undefined : JsonText.of<Fields>(text, source);
    });
  };
}

function toEntry(line: string): [id: string, text: string] {
  const end = line.indexOf(' ');
  return [line.slice(0, end), line.slice(end + 1)];
}
