/** A row of pets as JSON, in PostgreSQL's SQL. */
import { toPetJson } from '../columns.ts';

export const PET_JSON = toPetJson({
  quote: (column) => `to_json(${column})::text`,
  unlessNull: (_column, text) => `coalesce(${text}, '')`,
});
