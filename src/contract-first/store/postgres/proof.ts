/** Proves that records can be created, by trying. */
import type { Table } from '../table.ts';
import { toTrialRow } from '../trial.ts';
import type { AskAll } from './coalescing.ts';

/** An explicit id that no record has, so that the sequence does not advance. */
const LAST_ID = '9223372036854775807';

/** Our SQLSTATE for a row that was inserted. */
const DONE = 'PT001';

/**
 * Inserts a trial row into each table, and rolls back, all in one statement: so no lock is left if the server process dies, and
 * PostgreSQL logs no error. A row that only violates a constraint is proof enough. Then a row is rewritten unchanged.
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
