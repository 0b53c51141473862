/** API keys in PostgreSQL. */
import { buildKeyRows } from '../key-rows.ts';

/** The beginning of their version where the server can only be read. */
export const READ_ONLY = 'on ';

export const buildKeys = (schema: string) =>
  buildKeyRows({
    mark: (number) => `$${number}`,
    schema: `${schema}.`,
    place: 'place',
    state: "current_setting('transaction_read_only')",
    elements: 'json_array_elements($1::json)',
    nestsWrites: true,
  });
