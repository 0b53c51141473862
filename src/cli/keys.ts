/** Makes, lists and revokes API keys, beside a running server or without one. */
import { loadConfig } from '../config.ts';
import { missingFile, openStore } from '../store/open-store.ts';
import { StoreUnavailable } from '../store/store.ts';
import { readCommand } from './key-commands.ts';

async function main(): Promise<void> {
  const command = readCommand(process.argv.slice(2));
  const config = loadConfig(process.env);
  const { database } = config;
  if (database.kind === 'memory') throw new Error('DATABASE_URL is in memory, where no server would find the keys.');
  const missing = missingFile(database);
  if (missing && !command.makesDatabase) {
    throw new Error(`There is no database ${missing}. Go to the folder of the service, or set DATABASE_URL.`);
  }
  const store = await openStore(database, config);
  try {
    console.log(await command.run(store));
    if (missing) console.error(`There was no database yet. A new one was made: ${missing}`);
  } finally {
    await store.close();
  }
}

/** Why it failed, and what that means for the keys. */
function toWords(error: Error): string {
  if (!(error instanceof StoreUnavailable)) return error.message;
  const isKnown = error.kind !== 'outcome_unknown';
  const outcome = isKnown ? 'Nothing was changed.' : 'The change may have been made or not: see `list`, and try again.';
  return `The database cannot be used now: ${(error.cause as Error).message}. ${outcome}`;
}

main().catch((error: Error) => {
  console.error(toWords(error));
  process.exitCode = 1;
});
