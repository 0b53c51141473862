/** Opens the store on a database. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Awaitable } from './collection.ts';
import type { Database, SqliteDatabase } from './database-url.ts';
import type { AnyDomain, CollectionsOf } from './description.ts';
import { nameOfServer, type PostgresSettings } from './postgres/settings.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import { type Store, StoreError, type StoreLimits, StoreUnavailable } from './store.ts';
import type { OfDomain } from './transactions.ts';

type StoreOf<Domain extends AnyDomain> = Store<CollectionsOf<Domain>>;

/** Without shapes, records are only checked by the column types. @throws StoreError that says why the database cannot be used */
export function openStore<Domain extends AnyDomain>(
  database: SqliteDatabase,
  domain: Domain,
  limits: StoreLimits,
  made?: OfDomain<Domain>,
): StoreOf<Domain>;
export function openStore<Domain extends AnyDomain>(
  database: Database,
  domain: Domain,
  limits: StoreLimits,
  made?: OfDomain<Domain>,
): Awaitable<StoreOf<Domain>>;
export function openStore(
  database: Database,
  domain: AnyDomain,
  limits: StoreLimits,
  made?: OfDomain,
): Awaitable<Store> {
  if (database.kind === 'postgres') return openOnPostgres(database, domain, limits, made);
  const file = database.kind === 'memory' ? ':memory:' : database.file;
  try {
    return openSqlite(file, domain, limits, made);
  } catch (error) {
    throw toStoreError(file, error);
  }
}

/** Loads PostgreSQL's code only if it is used. */
async function openOnPostgres(
  settings: PostgresSettings,
  domain: AnyDomain,
  limits: StoreLimits,
  made?: OfDomain,
): Promise<Store> {
  try {
    const { openPostgres } = await import('./postgres/open-postgres.ts');
    return await openPostgres(settings, domain, limits, made);
  } catch (error) {
    throw toStoreError(nameOfServer(settings), error);
  }
}

function toStoreError(name: string, error: unknown): StoreError {
  const { message } = (error instanceof StoreUnavailable ? error.cause : error) as Error;
  return new StoreError(`The database ${name} cannot be used: ${message}.`, { cause: error });
}

/** The absolute path of a database file that does not exist yet; undefined if it does, or for any other database. */
export function missingFile(database: Database): string | undefined {
  return database.kind === 'sqlite' && !existsSync(database.file) ? resolve(database.file) : undefined;
}
