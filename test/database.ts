/** A store on SQLite by its URL, as the configuration opens it. */
import { parseDatabaseUrl, type SqliteDatabase } from '../src/store/database-url.ts';
import { openStore } from '../src/store/open-store.ts';
import type { Store, StoreLimits } from '../src/store/store.ts';

export const openUrl = (url: string, limits: Partial<StoreLimits> = {}): Store =>
  openStore(parseDatabaseUrl(url) as SqliteDatabase, {
    createTimeout: 60_000,
    maxCreates: 10_000,
    checkTimeout: 60_000,
    ...limits,
  });
