/** What has changed in the database since it was last asked, whoever changed it. */
import type { Database } from 'better-sqlite3';
import type { Table } from '../table.ts';
import { triggersOf } from './triggers.ts';

/** `added`: records were added after the last one, or nothing of the records has changed. `any`: it may be anything. */
export type Change = 'none' | 'added' | 'any';

/**
 * SQLite says whether other connections (`data_version`) or this one (`total_changes`) have written, and whether the schema is
 * another one, as it is after a restored backup. The triggers of the table count every edit of records, if they are there.
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
    // Only when all is read: after a read that failed, the change must be seen again.
    [others, own] = [othersNow, ownNow];
    return edits !== undefined && edits === before.edits && schema === before.schema ? 'added' : 'any';
  };
}
