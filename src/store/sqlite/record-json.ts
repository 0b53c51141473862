/** A row as JSON, in SQLite's SQL. */
import { perTable, toRecordJson } from '../table.ts';

export const toJsonSql = perTable((table) =>
  toRecordJson(table, {
    quote: (column) => `json_quote(${column})`,
    toBoolean: (column) => `CASE ${column} WHEN 0 THEN 'false' WHEN 1 THEN 'true' END`,
    // SQLite quotes NULL as the text null.
    unlessNull: (column, text) => `iif(${column} IS NULL, '', ${text})`,
  }),
);
