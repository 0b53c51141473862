/** A database file that cannot be written, and the replies that clients get. */
import type { Database } from 'better-sqlite3';
import type { Test } from 'tap';
import { Sqlite } from '../../src/contract-first/store/sqlite/sqlite.ts';
import type { StoreLimits } from '../../src/contract-first/store/store.ts';
import { type OwnStore, openUrl } from '../database.ts';
import type { ReceivedReply, SendRequest } from '../service.ts';

export const CREATE = { method: 'POST', body: { name: 'Rex', categoryId: 7 } };

/**
 * Returns the path of a database file for this test, and functions that open it: as a store, and as another program.
 */
export function prepareFile(t: Test) {
  const file = `${t.testdir()}/pets.db`;
  const open = (limits?: Partial<StoreLimits>): OwnStore => {
    const store = openUrl(`sqlite:${file}`, limits);
    t.teardown(() => store.close());
    return store;
  };
  const connect = (): Database => {
    const db = new Sqlite(file);
    t.teardown(() => db.close());
    return db;
  };
  return { file, databaseUrl: `sqlite:${file}`, open, connect };
}

export function isUnavailable(t: Test, { status, headers, body }: ReceivedReply): void {
  t.equal(status, 503);
  t.equal(headers['retry-after'], '1');
  t.strictSame(body, {
    code: 'unavailable',
    message: 'The service is unavailable. Try again later.',
    status: 503,
  });
}

/** Returns the ids of all pets, from the first page to the last. */
export async function idsIn(request: SendRequest): Promise<number[]> {
  const ids: number[] = [];
  for (let next: string | undefined = '/v1/pets?limit=100'; next; ) {
    const { body, headers }: ReceivedReply = await request(next);
    ids.push(...(body as { id: number }[]).map(({ id }) => id));
    next = headers.link?.match(/^<(.*)>/)?.[1];
  }
  return ids;
}
