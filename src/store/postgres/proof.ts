/** Whether records can be created, by trying to. */
import type { Table } from '../table.ts';
import { toTrialRow } from '../trial.ts';
import type { AskAll } from './coalescing.ts';

/** No other record has it, and the sequence goes on as if nothing had been. */
const LAST_ID = '9223372036854775807';

/** SQLSTATE, ours: the row is in. */
const DONE = 'PT001';

/**
 * Does what a create of each table does, and takes it back: in one statement, so that nothing is held where a server is gone in the
 * middle, and PostgreSQL's log has no error. A row that only does not fit was let in so far. Then a row is written without being changed.
 */
export function buildProveWritable(schema: string, tables: readonly Table[]): AskAll<undefined, unknown> {
  const tries = tables.map((table) => {
    const { columns, values } = toTrialRow(table);
    return `BEGIN
      INSERT INTO ${schema}.${table.name} (${[table.sequence, ...columns]}) OVERRIDING SYSTEM VALUE VALUES (${[LAST_ID, ...values]});
      RAISE SQLSTATE '${DONE}';
    EXCEPTION WHEN SQLSTATE '${DONE}' OR integrity_constraint_violation OR data_exception THEN NULL;
    END;`;
  });
  const sql = `DO $trial$ BEGIN
    ${tries.join('\n')}
    UPDATE ${schema}.passed_check SET contract = contract;
  END $trial$`;
  return (connection) => connection.query(sql);
}
