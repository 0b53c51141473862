/** Detects changes of the database, by any program, since the last call. */
import type { Database } from 'better-sqlite3';
import type { Table } from '../table.ts';
import { triggersOf } from './triggers.ts';

/** `added`: at most, records were added at the end. `any`: anything may have changed. */
export type Change = 'none' | 'added' | 'any';

/**
 * SQLite says whether other connections (`data_version`) or this one (`total_changes`) have written, and whether the schema has changed
 * (`schema_version`), as after a restored backup. Triggers count every edit of records, as long as they exist.
 */
export function watchChanges(db: Database, table: Table): () => Change {
  const { name } = table;
  const readOthers = db.prepare<[], bigint>('PRAGMA data_version').pluck();
  const readOwn = db.prepare<[], bigint>('SELECT total_changes()').pluck();
  const readSchema = db.prepare<[], bigint>('PRAGMA schema_version').pluck();
  const readEdits = db
    .prepare<[], bigint>(`
      SELECT count FROM record_edits WHERE name = '${name}' AND (
        SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = '${name}' AND name IN (${triggersOf(table)})) = 3`)
    .pluck();
  let others: bigint | undefined;
  let own: bigint | undefined;
  let schema: bigint | undefined;
  let edits: bigint | undefined;

  return () => {
    const [othersNow, ownNow] = [readOthers.get(), readOwn.get()];
    if (othersNow === others && ownNow === own) return 'none';
    const before = { schema, edits };
    [schema, edits] = [readSchema.get(), readEdits.get()];
    // Noted only when all reads have succeeded: after a failed read, the change must be seen again.
    [others, own] = [othersNow, ownNow];
    return edits !== undefined && edits === before.edits && schema === before.schema ? 'added' : 'any';
  };
}
