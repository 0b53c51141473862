/** Uses of keys in PostgreSQL. */
import type { KeyUse } from '../store.ts';
import type { Connection } from './connection.ts';

type UseRow = [keyId: string, operationId: string, count: string, usedAt: string];

const FIELDS = ['keyId', 'operationId', 'count', 'usedAt'] as const;

export function buildUses(schema: string) {
  const columns = 'key_id, operation_id, count, used_at';
  // Ordered, so that two servers never deadlock.
  const add = `
    INSERT INTO ${schema}.key_uses AS known (${columns})
    SELECT ${columns} FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) AS added (${columns})
    ORDER BY key_id, operation_id
    ON CONFLICT (key_id, operation_id) DO UPDATE SET
      count = known.count + EXCLUDED.count, used_at = greatest(known.used_at, EXCLUDED.used_at)`;
  const select = `SELECT ${columns} FROM ${schema}.key_uses ORDER BY key_id, operation_id`;

  return {
    add: async (connection: Connection, uses: KeyUse[]) => {
      await connection.query(
        add,
        FIELDS.map((field) => uses.map((use) => use[field])),
      );
    },
    list: async (connection: Connection): Promise<KeyUse[]> => {
      const rows = (await connection.query(select)) as UseRow[];
      return rows.map(([keyId, operationId, count, usedAt]) => ({ keyId, operationId, count: Number(count), usedAt }));
    },
  };
}
