/** A row of pets as JSON, in SQLite's SQL. */
import { toPetJson } from '../columns.ts';

export const PET_JSON = toPetJson({
  quote: (column) => `json_quote(${column})`,
  // SQLite quotes NULL as the text null.
  unlessNull: (column, text) => `iif(${column} IS NULL, '', ${text})`,
});
