/**
 * Triggers on a table of records that count every edit, and note the revisions of deleted records. Servers cache pages as long as the
 * count stays the same. Adding a record at the end is no edit, but replacing the last one (INSERT OR REPLACE) is. During a statement,
 * sqlite_sequence still has the previous highest id. They are made anew after migrations, so a change of them needs one.
 */
import type { SqlSteps } from '../collection.ts';
import { toStep } from '../statement.ts';
import { revisionOf, type Table } from '../table.ts';

/** The triggers' names are these, followed by `_` and the table's name. No others begin like them. */
const TRIGGERS = ['record_edits_by_update', 'record_edits_by_delete', 'record_edits_by_insert'];

/** The names of a table's triggers, quoted for SQL. */
export const triggersOf = ({ name }: Table) => TRIGGERS.map((trigger) => `'${trigger}_${name}'`).join(', ');

/** Run after migrations, which may have changed any record: each gets a revision, and so an entity tag, that none had before. */
export function toTriggersSql(described: Table): string {
  const { name: table, sequence } = described;
  const revision = revisionOf(described);
  const count = `UPDATE record_edits SET count = count + 1 WHERE name = '${table}'`;
  const note = toNoteSql(`VALUES ('${table}', OLD.${revision})`);
  const advance = `UPDATE ${table} SET ${revision} = 1 + (
    SELECT max(revision) FROM (SELECT ${revision} AS revision FROM ${table}
      UNION ALL SELECT revision FROM deleted_revisions WHERE name = '${table}'));`;
  return `
    ${revision ? advance : ''}
    INSERT OR IGNORE INTO record_edits VALUES ('${table}', 0);
    CREATE TRIGGER record_edits_by_update_${table} AFTER UPDATE ON ${table} BEGIN ${count}; END;
    CREATE TRIGGER record_edits_by_delete_${table} AFTER DELETE ON ${table} BEGIN ${count}; ${revision ? note : ''} END;
    CREATE TRIGGER record_edits_by_insert_${table} AFTER INSERT ON ${table}
    WHEN NEW.${sequence} <= (SELECT seq FROM sqlite_sequence WHERE name = '${table}') BEGIN ${count}; END;`;
}

const toNoteSql = (rows: string) => `INSERT INTO deleted_revisions ${rows}
  ON CONFLICT DO UPDATE SET revision = excluded.revision WHERE revision < excluded.revision;`;

/**
 * Drops these triggers of all tables, before migrations: no table can be rebuilt that they refer to. Notes the highest revision of each table
 * in their place, since a migration may delete any record.
 */
export function* dropTriggers(): SqlSteps<void> {
  const find = "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'record_edits_by_*'";
  for (const [name, table, sql] of yield toStep(find)) {
    const [, revision] = /OLD\.(\w+)/.exec(String(sql)) ?? [];
    if (revision) yield { sql: toNoteSql(`SELECT '${table}', max(${revision}) FROM ${table} HAVING count(*) > 0`) };
    yield { sql: `DROP TRIGGER "${name}"` };
  }
}

/** Remembers all triggers that migrations have made, and those above. */
export function* rememberTriggers(): SqlSteps<void> {
  yield toStep('DELETE FROM known_triggers');
  yield toStep("INSERT INTO known_triggers SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'");
}

/** Any other trigger could undo what is answered with 201. @throws Error that names those that were added, changed or dropped since */
export function* checkTriggers(): SqlSteps<void> {
  const odd = yield toStep(`
    SELECT DISTINCT name FROM (
      SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' UNION ALL SELECT name, sql FROM known_triggers
    ) GROUP BY name, sql HAVING count(*) = 1`);
  if (odd.length > 0)
    throw new Error(
      `its triggers are not as its migrations made them (see the table known_triggers): ${odd.join(', ')}`,
    );
}
