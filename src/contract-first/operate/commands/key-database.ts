/** Opens the database for the commands of keys, with or without a running server. */
import type { Service } from '../../service.ts';
import { missingFile, openStore } from '../../store/open-store.ts';
import { type Store, StoreUnavailable } from '../../store/store.ts';
import { loadConfig } from '../config.ts';

/** @throws Error whose message is for the operator */
export async function withDatabase(
  { name, domain }: Pick<Service, 'name' | 'domain'>,
  env: NodeJS.ProcessEnv,
  makesDatabase: boolean,
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const config = loadConfig(env, { name });
  for (const warning of config.warnings) console.error(`Warning: ${warning}`);
  const { database } = config;
  if (database.kind === 'memory') throw new Error('DATABASE_URL is in memory, which no other program can see.');
  const missing = missingFile(database);
  if (missing && !makesDatabase) {
    throw new Error(`There is no database ${missing}. Go to the folder of the service, or set DATABASE_URL.`);
  }
  endUnlessWritten();
  try {
    const store = await openStore(database, domain, config);
    try {
      await work(store);
      if (missing) console.error(`There was no database yet. A new one was made: ${missing}`);
    } finally {
      await store.close();
    }
  } catch (error) {
    throw error instanceof StoreUnavailable ? toAdvice(error) : error;
  }
}

function endUnlessWritten(): void {
  process.stdout.on('error', ({ message }) => {
    console.error(`The answer cannot be written: ${message}. What was asked is done: see \`list\`.`);
    process.exit(1);
  });
}

/** Why the command failed, and what that means for the keys. */
function toAdvice({ kind, cause }: StoreUnavailable): Error {
  const outcome =
    kind === 'outcome_unknown'
      ? 'The change may have been made or not: see `list`, and try again.'
      : 'Nothing was changed.';
  return new Error(`The database cannot be used now: ${(cause as Error).message}. ${outcome}`);
}
