/**
 * Reads the types of columns from the migrations for PostgreSQL, and writes the SQL that changes a type. SQLite's
 * tables do not show these types, because SQLite uses one type for integers and booleans, and one for texts and
 * numbers.
 */
import type { PostgresType } from '../../store/postgres/dialect.ts';
import { sqlPartsOf } from '../../store/tables/migrations.ts';

const NAMES: Readonly<Record<string, PostgresType>> = {
  ...{ bigint: 'bigint', int8: 'bigint', integer: 'integer', int: 'integer', int4: 'integer' },
  ...{ boolean: 'boolean', bool: 'boolean', double: 'double precision', float8: 'double precision', text: 'text' },
};

/**
 * Returns the types of a table's columns, by the name of the column. Omits a column with a type that no collection can
 * have.
 */
export function readPostgresTypes(files: readonly string[], table: string): Map<string, PostgresType> {
  const types = new Map<string, PostgresType>();
  for (const sql of files) for (const statement of statementsOf(sql)) readStatement(statement, table, types);
  return types;
}

/** Returns the statements of a text, each as a list of words. */
function statementsOf(sql: string): string[][] {
  const statements: string[][] = [[]];
  for (const { text } of sqlPartsOf(sql, 'postgres')) {
    if (text === ';') statements.push([]);
    else statements.at(-1)?.push(text.startsWith('"') ? text.slice(1, -1) : text.toLowerCase());
  }
  return statements;
}

/** Words that may precede the name of a table. */
const BEFORE_TABLE = new Set(['create', 'alter', 'unlogged', 'table', 'if', 'not', 'exists', 'only']);
/** Words that may be between the name of a column and its type. */
const BEFORE_TYPE = new Set(['set', 'data', 'type']);

function readStatement(words: readonly string[], table: string, types: Map<string, PostgresType>): void {
  const start = words.findIndex((word) => !BEFORE_TABLE.has(word));
  if (words[start] !== table || !words.slice(0, start).includes('table')) return;
  const [verb, columns] = [words[0], words.slice(start + 1)];
  if (columns[0] === 'rename') rename(columns, types);
  const seen = new Set<string>();
  for (const [at, name] of columns.entries()) {
    // In `ALTER TABLE`, the name of a column follows a keyword such as `ADD`. Other names before a type are casts, as
    // in `CHECK (size::text <> '')` or `USING size::bigint`.
    if (seen.has(name) || (verb === 'alter' && !/^(add|column|exists)$/.test(columns[at - 1] ?? ''))) continue;
    const type = NAMES[columns.slice(at + 1).find((word) => !BEFORE_TYPE.has(word)) ?? ''];
    if (type === undefined) continue;
    seen.add(name);
    types.set(name, type);
  }
}

/** Reads a rename, such as `RENAME COLUMN note TO remark`. */
function rename(words: readonly string[], types: Map<string, PostgresType>): void {
  const to = words.indexOf('to');
  const type = types.get(words[to - 1] as string);
  if (type !== undefined) types.set(words[to + 1] as string, type);
}

const INTEGER_RANGE = 'BETWEEN -2147483648 AND 2147483647';

/**
 * Writes the SQL that SQLite needs to convert the value of a column to another type. If a value does not fit, the SQL
 * returns a value that a strict table rejects.
 */
export function toSqliteValue(column: string, before: PostgresType | undefined, type: PostgresType): string {
  if (type === 'integer') return `iif(CAST(${column} AS REAL) NOT ${INTEGER_RANGE}, 'out of range', ${column})`;
  if (type === 'boolean')
    return `CASE WHEN ${column} IN ('1', 'true') THEN 1 WHEN ${column} IN ('0', 'false') THEN 0 WHEN ${column} IS NOT NULL THEN 'not a boolean' END`;
  if (type === 'double precision')
    return `CASE WHEN json_valid(${column}) AND json_type(${column}) IN ('integer', 'real') THEN ${column} WHEN ${column} IS NOT NULL THEN x'00' END`;
  return type === 'text' && before === 'boolean' ? `CASE ${column} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END` : column;
}

/**
 * Writes the SQL that PostgreSQL needs to convert the value of a column to another type. If a value does not fit, the
 * statement fails.
 */
export function toPostgresValue(column: string, before: PostgresType | undefined, type: PostgresType): string {
  if (type === 'double precision' || type === 'bigint' || type === 'integer') {
    // The cast to json rejects NaN, which PostgreSQL would accept as a double.
    const check = before === 'text' && type === 'double precision' ? 'json::text::' : '';
    return `${column}::${before === 'boolean' ? 'integer' : 'text'}::${check}${type}`;
  }
  return `${column}::text${type === 'text' ? '' : `::${type}`}`;
}
