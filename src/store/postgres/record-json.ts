/** A row as JSON, in PostgreSQL's SQL. */
import { type Table, toRecordJson } from '../table.ts';

export const toJsonSql = (table: Table) =>
  toRecordJson(table, {
    quote: (column) => `to_json(${column})::text`,
    toBoolean: (column) => `${column}::text`,
    unlessNull: (_column, text) => `coalesce(${text}, '')`,
  });
