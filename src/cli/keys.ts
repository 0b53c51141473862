/** Makes, lists and revokes API keys, beside a running server or without one. */
import { loadConfig } from '../config.ts';
import { missingFile, openStore } from '../store/open-store.ts';
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
  const store = openStore(database, config);
  try {
    console.log(await command.run(store));
    if (missing) console.error(`There was no database yet. A new one was made: ${missing}`);
  } finally {
    await store.close();
  }
}

main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
