/** PostgreSQL's SQL for a row as JSON. */
import { perTable, toRecordJson } from '../table.ts';

export const toJsonSql = perTable((table) =>
  toRecordJson(table, {
    quote: (column) => `to_json(${column})::text`,
    toBoolean: (column) => `${column}::text`,
    unlessNull: (_column, text) => `coalesce(${text}, '')`,
  }),
);
