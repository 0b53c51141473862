/**
 * Triggers on a table of records that count every edit. Servers cache pages as long as the count stays the same. Adding a record at the
 * end is no edit, but replacing the last one (INSERT OR REPLACE) is. During a statement, sqlite_sequence still has the previous
 * highest id.
 */
import type { Table } from '../table.ts';

/** The triggers' names are these, followed by `_` and the table's name. */
const TRIGGERS = ['count_updates', 'count_deletions', 'count_insertions'];

/** The names of a table's triggers, quoted for SQL. */
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
