/**
 * The triggers on a table of records, which count every change but the addition of a last record: servers keep pages while the count
 * stays the same. To replace the last record (INSERT OR REPLACE) is an edit too: during a statement, sqlite_sequence still has the
 * previous highest id.
 */
import type { Table } from '../table.ts';

/** Their names begin so, and end with that of the table. */
const TRIGGERS = ['count_updates', 'count_deletions', 'count_insertions'];

/** In quotes. */
export const triggersOf = ({ name }: Table) => TRIGGERS.map((trigger) => `'${trigger}_${name}'`).join(', ');

export function toTriggersSql({ name: table, sequence }: Table): string {
  const count = `UPDATE record_edits SET count = count + 1 WHERE name = '${table}'`;
  return `
    ${TRIGGERS.map((name) => `DROP TRIGGER IF EXISTS ${name}_${table};`).join('\n')}
    INSERT OR IGNORE INTO record_edits VALUES ('${table}', 0);
    CREATE TRIGGER count_updates_${table} AFTER UPDATE ON ${table} BEGIN ${count}; END;
    CREATE TRIGGER count_deletions_${table} AFTER DELETE ON ${table} BEGIN ${count}; END;
    CREATE TRIGGER count_insertions_${table} AFTER INSERT ON ${table}
    WHEN NEW.${sequence} <= (SELECT seq FROM sqlite_sequence WHERE name = '${table}') BEGIN ${count}; END;`;
}
