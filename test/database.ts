/** A store by its URL, as the configuration opens it. */
import { type Database, parseDatabaseUrl } from '../src/store/database-url.ts';
import { openStore } from '../src/store/open-store.ts';
import type { Store } from '../src/store/store.ts';

export const openUrl = (url: string): Store => openStore(parseDatabaseUrl(url) as Database);
