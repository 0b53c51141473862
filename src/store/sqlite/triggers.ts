/**
 * The triggers on a domain's table, which count every change but the addition of a last record: servers keep pages while the count
 * stays the same. To replace the last record (INSERT OR REPLACE) is an edit too: during a statement, sqlite_sequence still has the
 * previous highest id.
 */
import type { Table } from '../table.ts';

/** Their names, in quotes. */
export const TRIGGERS = "'count_updates', 'count_deletions', 'count_insertions'";

export function toTriggersSql({ name: table }: Table): string {
  return `
    DROP TRIGGER IF EXISTS count_updates;
    DROP TRIGGER IF EXISTS count_deletions;
    DROP TRIGGER IF EXISTS count_insertions;
    CREATE TRIGGER count_updates AFTER UPDATE ON ${table} BEGIN
      UPDATE record_edits SET count = count + 1;
    END;
    CREATE TRIGGER count_deletions AFTER DELETE ON ${table} BEGIN
      UPDATE record_edits SET count = count + 1;
    END;
    CREATE TRIGGER count_insertions AFTER INSERT ON ${table}
    WHEN NEW.id <= (SELECT seq FROM sqlite_sequence WHERE name = '${table}') BEGIN
      UPDATE record_edits SET count = count + 1;
    END;`;
}
