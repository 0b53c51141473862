/** API keys in SQLite. */
import { buildKeyRows } from '../key-rows.ts';

export const KEYS = buildKeyRows({
  mark: () => '?',
  schema: '',
  place: 'rowid',
  // The schema version also changes when a backup is restored.
  state: '(SELECT schema_version FROM pragma_schema_version)',
  elements: 'json_each(?)',
  nestsWrites: false,
});
