/** Makes, lists and revokes API keys, beside a running server or without one. */
import { loadConfig } from '../config.ts';
import { openStore } from '../store/open-store.ts';
import { readCommand } from './key-commands.ts';

async function main(): Promise<void> {
  const command = readCommand(process.argv.slice(2));
  const { database } = loadConfig(process.env);
  if (database.kind === 'memory') throw new Error('DATABASE_URL is in memory: its keys end with its process.');
  const store = openStore(database);
  try {
    console.log(await command(store));
  } finally {
    await store.close();
  }
}

main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
