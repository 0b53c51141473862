/** SQLite's SQL for a row as JSON. */
import { perTable, toRecordJson } from '../table.ts';

export const toJsonSql = perTable((table) =>
  toRecordJson(table, {
    quote: (column) => `json_quote(${column})`,
    toBoolean: (column) => `CASE ${column} WHEN 0 THEN 'false' WHEN 1 THEN 'true' END`,
    // `json_quote(NULL)` is the text null, so NULL is tested.
    unlessNull: (column, text) => `iif(${column} IS NULL, '', ${text})`,
  }),
);
