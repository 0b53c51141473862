/** Reads records, and pages in the order of creation. SQLite writes them as JSON text. */
import type { Database } from 'better-sqlite3';
import { JsonText, type TextSource } from '../../json/json-text.ts';
import type { Fields, Page, PageQuery } from '../collection.ts';
import { fromCursor, toCursor } from '../cursors.ts';
import type { Field, Table } from '../tables/table.ts';
import { toCompared, toShownSql } from './drive.ts';
import { toBound } from './insert.ts';

export interface Reads {
  readPage: (query: PageQuery) => Page | undefined;
  readRecord: (id: unknown) => JsonText<Fields> | undefined;
}

export function prepareReads(db: Database, table: Table, source: TextSource): Reads {
  const { id, name } = table;
  const select = `SELECT ${toShownSql(table)} FROM ${name} WHERE ${id.column} = ?`;
  const get = db.prepare<[unknown], string>(select).pluck();
  const readRecord = (value: unknown) => {
    const text = get.get(toBound(id, value));
    return text === undefined ? undefined : JsonText.of<Fields>(text, source);
  };
  return { readPage: prepareReadPage(db, table, source), readRecord };
}

type PageRow = [text: string, count: bigint, last: bigint | null];

export function prepareReadPage(db: Database, table: Table, source: TextSource): Reads['readPage'] {
  const queries = new Map<string, ReturnType<typeof prepareQueries>>();

  /** Returns the statements for a combination of filters, which are prepared when the combination is first used. */
  function queriesFor(used: Field[]) {
    const name = used.map(({ column }) => column).join();
    const known = queries.get(name) ?? prepareQueries(db, table, used);
    queries.set(name, known);
    return known;
  }

  return (query) => {
    const values: unknown[] = [];
    const [used, bound]: [Field[], unknown[]] = [[], []];
    for (const field of table.filters) {
      const value = query[field.name];
      values.push(value);
      if (value === undefined) continue;
      used.push(field);
      bound.push(toBound(field, value));
    }
    const after = query.after === undefined ? 0n : fromCursor(query.after, values)?.id;
    if (after === undefined) return undefined;
    const { page, hasMore } = queriesFor(used);
    const [text, count, last] = page.get(...bound, after, query.limit) as PageRow;
    const isFull = last !== null && count === BigInt(query.limit);
    const next = isFull && hasMore.get(...bound, last) === 1n ? toCursor(last, values) : undefined;
    return { body: JsonText.of<Fields[]>(text, source), next };
  };
}

function prepareQueries(db: Database, table: Table, used: Field[]) {
  const { name, sequence } = table;
  const filter = used.map((field) => `${toCompared(field, field.column)} = ? AND `).join('');
  return {
    // SQLite joins the records of a page, because a text that JavaScript has joined would be copied again when it is
    // sent.
    // LIMIT is an expression (`+?`), because SQLite would prepare a statement with `LIMIT ?` again for each new value.
    page: db
      .prepare<unknown[], PageRow>(`
        SELECT '[' || ifnull(group_concat(record, ','), '') || ']', count(*), max(position)
        FROM (
          SELECT ${sequence} AS position, ${toShownSql(table)} AS record FROM ${name}
          WHERE ${filter} ${sequence} > ? ORDER BY ${sequence} LIMIT +?
        )`)
      .raw(),
    hasMore: db
      .prepare<unknown[], bigint>(`SELECT EXISTS (SELECT 1 FROM ${name} WHERE ${filter} ${sequence} > ?)`)
      .pluck(),
  };
}
