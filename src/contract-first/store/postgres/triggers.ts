/** Triggers on a table of records: one takes the lock of writers, one notes the revisions of deleted records. */
import { revisionOf, type Table } from '../table.ts';

/** SQL to run after migrations. */
export function toTriggersSql(table: Table): string {
  const { name } = table;
  const revision = revisionOf(table);
  const lock = `CREATE OR REPLACE TRIGGER write_records BEFORE INSERT OR UPDATE OR DELETE ON ${name}
    FOR EACH STATEMENT EXECUTE FUNCTION write_records();`;
  if (revision === undefined) return lock;
  return `${lock}
    CREATE OR REPLACE TRIGGER note_revisions AFTER DELETE ON ${name} REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION note_revisions('${revision}');
    ${toAdvanceSql(table, revision)}`;
}

/**
 * Gives each record that the migrations have changed a revision, and so an entity tag, that none had before: those whose rows they have
 * written, or all where a column that records show is new or another one. It must not take the lock of writers, who may hold it and wait
 * for this table.
 */
function toAdvanceSql({ name, fields }: Table, revision: string): string {
  const isOwn = 'age(xmin) <= 0';
  const shown = fields.map(({ column, isOptional }) => {
    const hasValues = `EXISTS (SELECT FROM ${name} WHERE ${column} IS NOT NULL)`;
    return `attname = '${column}'${isOptional ? ` AND ${hasValues}` : ''}`;
  });
  return `
    ALTER TABLE ${name} DISABLE TRIGGER write_records;
    UPDATE ${name} SET ${revision} = 1 + greatest(
      (SELECT max(${revision}) FROM ${name}), (SELECT revision FROM deleted_revisions WHERE name = '${name}'))
    WHERE ${isOwn} OR EXISTS (
      SELECT FROM pg_attribute
      WHERE attrelid = '${name}'::regclass AND attnum > 0 AND ${isOwn} AND (attisdropped OR ${shown.join(' OR ')}));
    ALTER TABLE ${name} ENABLE TRIGGER write_records;`;
}
