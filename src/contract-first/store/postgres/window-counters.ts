/** Counts requests in windows of time, for all servers that share the database. */
import type { WindowCount } from '../store.ts';
import type { BatchLoader } from './coalescing.ts';
import type { PostgresConnection } from './connection.ts';

interface Addition {
  id: string;
  /** The length of the window, in seconds. */
  window: number;
  amount: number;
}

/** How often expired windows are deleted, in milliseconds, and how many rows one statement deletes. */
const CLEANING = 10_000;
const MOST_REMOVED = 10_000;

export function buildWindowCounters(schema: string): BatchLoader<Addition, WindowCount> {
  const table = `${schema}.tallies`;
  // Adds the rows in the order of their ids: if two servers lock the rows in the same order, they never deadlock.
  const add = `
    INSERT INTO ${table} AS known (id, began, ends, total)
    SELECT id, span * floor(extract(epoch FROM now()) / span), span * (1 + floor(extract(epoch FROM now()) / span)), amount
    FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS added (id, span, amount) ORDER BY id
    ON CONFLICT (id) DO UPDATE SET
      began = greatest(known.began, EXCLUDED.began),
      ends = greatest(known.ends, EXCLUDED.ends),
      total = CASE WHEN known.began < EXCLUDED.began THEN 0 ELSE known.total END + EXCLUDED.total
    RETURNING id, total, round(1000 * (extract(epoch FROM clock_timestamp()) - began))`;
  // Deletes only rows that no other server is updating or deleting.
  const clean = `
    DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE ends < extract(epoch FROM now())
      ORDER BY ends LIMIT ${MOST_REMOVED} FOR UPDATE SKIP LOCKED)`;
  let cleanedAt = Number.NEGATIVE_INFINITY;

  async function cleanSometimes(connection: PostgresConnection): Promise<void> {
    if (performance.now() - cleanedAt < CLEANING) return;
    cleanedAt = performance.now();
    await connection.query(clean);
  }

  return async (connection, additions) => {
    await cleanSometimes(connection);
    const columns = (['id', 'window', 'amount'] as const).map((name) => additions.map((addition) => addition[name]));
    const rows = (await connection.query(add, columns)) as [id: string, total: string, age: string][];
    const byId = new Map(rows.map(([id, ...counted]) => [id, counted]));
    return additions.map(({ id, window }) => {
      const [total, age] = byId.get(id) as [string, string];
      return { total: Number(total), ends: window * 1000 - Number(age) };
    });
  };
}
