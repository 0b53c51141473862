/** How much of each limit is used, by all servers. */
import type { Tallied } from '../store.ts';
import type { Connection } from './connection.ts';
import type { AskAll } from './gathering.ts';

interface Addition {
  id: string;
  /** In seconds. */
  window: number;
  amount: number;
}

/** How often what is over is removed, in milliseconds. */
const CLEANING = 3_600_000;

export function buildTallies(schema: string): AskAll<Addition, Tallied> {
  const table = `${schema}.tallies`;
  // In the order of the ids, so that two servers never wait for each other.
  const add = `
    INSERT INTO ${table} AS known (id, began, total)
    SELECT id, span * floor(extract(epoch FROM now()) / span), amount
    FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS added (id, span, amount) ORDER BY id
    ON CONFLICT (id) DO UPDATE SET
      began = greatest(known.began, EXCLUDED.began),
      total = CASE WHEN known.began < EXCLUDED.began THEN 0 ELSE known.total END + EXCLUDED.total
    RETURNING id, total, round(1000 * (extract(epoch FROM clock_timestamp()) - began))`;
  const clean = `DELETE FROM ${table} WHERE began < extract(epoch FROM now()) - 172800`;
  let cleanedAt = Number.NEGATIVE_INFINITY;

  async function cleanSometimes(connection: Connection): Promise<void> {
    if (performance.now() - cleanedAt < CLEANING) return;
    cleanedAt = performance.now();
    await connection.query(clean);
  }

  return async (connection, additions) => {
    await cleanSometimes(connection);
    const columns = (['id', 'window', 'amount'] as const).map((name) => additions.map((addition) => addition[name]));
    const rows = (await connection.query(add, columns)) as [id: string, total: string, age: string][];
    const byId = new Map(rows.map(([id, ...tallied]) => [id, tallied]));
    return additions.map(({ id, window }) => {
      const [total, age] = byId.get(id) as [string, string];
      return { total: Number(total), ends: window * 1000 - Number(age) };
    });
  };
}
