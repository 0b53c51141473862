/** Uses of keys in SQLite. */
import type { Database } from 'better-sqlite3';
import type { KeyUse } from '../store.ts';

/** Takes the uses as a JSON array: one text to copy to the thread, and one statement. */
export function prepareAddUses(db: Database): (uses: string) => void {
  const add = db.prepare<[string]>(`
    INSERT INTO key_uses (key_id, operation_id, count, used_at)
    SELECT value ->> 'keyId', value ->> 'operationId', value ->> 'count', value ->> 'usedAt' FROM json_each(?) WHERE true
    ON CONFLICT (key_id, operation_id) DO UPDATE SET
      count = count + excluded.count, used_at = max(used_at, excluded.used_at)`);
  return (uses) => {
    add.run(uses);
  };
}

export function prepareListUses(db: Database): () => KeyUse[] {
  const select = db
    .prepare<[], KeyUse>(`
      SELECT key_id AS keyId, operation_id AS operationId, count, used_at AS usedAt
      FROM key_uses ORDER BY key_id, operation_id`)
    .safeIntegers(false);
  return () => select.all();
}
