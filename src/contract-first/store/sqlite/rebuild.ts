/**
 * Writes the statements that change the types or constraints of columns. SQLite cannot change them directly. So the
 * statements create a new table and copy the rows into it, as in
 * https://www.sqlite.org/lang_altertable.html#otheralter. Indexes, triggers, views and constraints that the team has
 * written are kept.
 */
import type { Field, Table } from '../tables/table.ts';
import type { Driver } from './drive.ts';

/** An object of the schema: a table, an index, a trigger or a view. `sql` creates it. */
interface Created {
  type: string;
  name: string;
  table: string;
  sql: string;
}

export interface Rebuild {
  statements: string[];
  /**
   * The names of triggers that use a dropped column. The rebuild does not create these triggers again, because only
   * their author can decide how they should work without the column.
   */
  unfit: string[];
}

/** The changes of a table that need a rebuild. */
export interface TableChange {
  dropped: ReadonlySet<string>;
  /** The names of the dropped indexes. */
  droppedIndexes: readonly string[];
  /** Returns SQL of a field's value in the new table, computed from a row of the old table. */
  toValue: (field: Field) => string;
  /** Returns CREATE TABLE with this name, and with additional constraints. */
  toCreate: (name: string, more: readonly string[]) => string;
}

export function writeRebuild(table: Table, driver: Driver, change: TableChange): Rebuild {
  const { dropped, droppedIndexes, toValue, toCreate } = change;
  const { name, sequence, fields } = table;
  const rows = driver.query({
    sql: 'SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL',
    values: [],
  });
  const all = rows.map(([type, name, table, sql]) => ({ type, name, table, sql }) as Created);
  const usesDropped = (sql: string) => [...dropped].some((column) => isNaming(sql, column));
  const own = all.filter((one) => one.table === name && one.type !== 'table');
  const kept = own.filter((one) => !usesDropped(one.sql) && !droppedIndexes.includes(one.name));
  const checks = checksIn((all.find((one) => one.name === name) as Created).sql)
    .filter((check) => !usesDropped(check) && check.replace(/\s/g, '') !== `(${sequence}>0)`)
    .map((check) => `CHECK ${check}`);
  const more = [...uniqueIn(table, driver).filter((columns) => !usesDropped(columns)), ...checks];
  const copied = fields.some(({ column }) => column === sequence) ? [] : [sequence];
  const columns = [...copied, ...fields.map(({ column }) => column)];
  return {
    statements: [
      toCreate(`new_${name}`, more),
      `INSERT INTO new_${name} (${columns.join(', ')}) SELECT ${[...copied, ...fields.map(toValue)].join(', ')} FROM ${name};`,
      `DROP TABLE ${name};`,
      // Without this pragma, SQLite would not rename the new table, because triggers and views refer to the old one.
      'PRAGMA legacy_alter_table = ON;',
      `ALTER TABLE new_${name} RENAME TO ${name};`,
      'PRAGMA legacy_alter_table = OFF;',
      ...kept.map(({ sql }) => `${sql};`),
    ],
    unfit: own.filter(({ type, sql }) => type === 'trigger' && usesDropped(sql)).map((one) => one.name),
  };
}

/**
 * Writes a statement that converts the values of a column, for changes that do not need another column type in SQLite.
 * The statement fails if a constraint of the column rejects a converted value.
 */
export const writeConversion = (table: string, column: string, value: string): string =>
  `UPDATE ${table} SET ${column} = ${value} WHERE ${column} IS NOT ${value};`;

const isNaming = (sql: string, name: string) => new RegExp(`\\b${name}\\b`, 'i').test(sql);

/** Returns the UNIQUE constraints of the table, except the constraint on the table's key. */
function uniqueIn(table: Table, driver: Driver): string[] {
  const key = `UNIQUE (${table.key.join(', ')})`;
  const select = `SELECT group_concat(info.name, ', ') FROM pragma_index_list(?) AS list, pragma_index_info(list.name) AS info
    WHERE list.origin = 'u' GROUP BY list.name`;
  const found = driver.query({ sql: select, values: [table.name] }).map(([columns]) => `UNIQUE (${columns})`);
  return found.filter((one) => one !== key);
}

/** Matches parentheses, and the beginning of a comment, of a string, of a quoted name or of a CHECK. */
const TOKEN = /--|\/\*|['"`[]|\bCHECK\s*\(|[()]/gi;

/** The ends of comments, strings and quoted names, by their beginning. */
const ENDS: Record<string, string> = { '--': '\n', '/*': '*/', "'": "'", '"': '"', '`': '`', '[': ']' };

/** Returns the conditions of the CHECKs in a CREATE TABLE, each with its parentheses. */
function checksIn(sql: string): string[] {
  const found: string[] = [];
  let start: number | undefined;
  let depth = 0;
  const tokens = new RegExp(TOKEN);
  for (let match = tokens.exec(sql); match; match = tokens.exec(sql)) {
    const { 0: token, index } = match;
    const end = ENDS[token];
    if (end !== undefined) tokens.lastIndex = Math.max(sql.indexOf(end, tokens.lastIndex), index) + end.length;
    else if (/^CHECK/i.test(token) && start === undefined) {
      start = index + token.length - 1;
      depth = 1;
    } else if (token.endsWith('(')) depth++;
    else if (token === ')') depth--;
    if (start === undefined || token !== ')' || depth > 0) continue;
    found.push(sql.slice(start, index + 1));
    start = undefined;
  }
  return found;
}
