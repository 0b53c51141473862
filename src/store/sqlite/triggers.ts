/**
 * Triggers on a table of records that count every edit, and note the revisions of deleted records. Servers cache pages as long as the count stays the same. Adding a record at the
 * end is no edit, but replacing the last one (INSERT OR REPLACE) is. During a statement, sqlite_sequence still has the previous
 * highest id.
 */
import { revisionOf, type Table } from '../table.ts';

/** The triggers' names are these, followed by `_` and the table's name. */
const TRIGGERS = ['count_updates', 'count_deletions', 'count_insertions'];

/** The names of a table's triggers, quoted for SQL. */
export const triggersOf = ({ name }: Table) => TRIGGERS.map((trigger) => `'${trigger}_${name}'`).join(', ');

/** Run after migrations, which may have changed any record: each gets a revision, and so an entity tag, that none had before. */
export function toTriggersSql(described: Table): string {
  const { name: table, sequence } = described;
  const revision = revisionOf(described);
  const count = `UPDATE record_edits SET count = count + 1 WHERE name = '${table}'`;
  const note = `INSERT INTO deleted_revisions VALUES ('${table}', OLD.${revision})
    ON CONFLICT DO UPDATE SET revision = excluded.revision WHERE revision < excluded.revision;`;
  const advance = `UPDATE ${table} SET ${revision} = 1 + (
    SELECT max(revision) FROM (SELECT ${revision} AS revision FROM ${table}
      UNION ALL SELECT revision FROM deleted_revisions WHERE name = '${table}'));`;
  return `
    ${TRIGGERS.map((name) => `DROP TRIGGER IF EXISTS ${name}_${table};`).join('\n')}
    ${revision ? advance : ''}
    INSERT OR IGNORE INTO record_edits VALUES ('${table}', 0);
    CREATE TRIGGER count_updates_${table} AFTER UPDATE ON ${table} BEGIN ${count}; END;
    CREATE TRIGGER count_deletions_${table} AFTER DELETE ON ${table} BEGIN ${count}; ${revision ? note : ''} END;
    CREATE TRIGGER count_insertions_${table} AFTER INSERT ON ${table}
    WHEN NEW.${sequence} <= (SELECT seq FROM sqlite_sequence WHERE name = '${table}') BEGIN ${count}; END;`;
}
