/** Runs a command on the configured database, and prints its result, or its failure in words. */
import { existsSync } from 'node:fs';
import { domain } from '../../../generated/domain.ts';
import { toPrintableLines } from '../../json/literals.ts';
import { missingFile, openStore } from '../../store/open-store.ts';
import { type Store, StoreUnavailable } from '../../store/store.ts';
import { loadConfig } from '../config.ts';

export interface Command {
  /** Returns the text to print. @throws Error whose message is printed */
  run(store: Store): Promise<string>;
  /** Whether the command may create the database. */
  makesDatabase: boolean;
}

export interface CommandOptions {
  /** @throws Error with the usage */
  readCommand: () => Command;
  env: NodeJS.ProcessEnv;
  tell: (text: string) => void;
  /** The advice if it is unknown whether the command was carried out. */
  ifUnknown: string;
}

/** The only argument of a command. @throws Error with the usage if there is another, or an option */
export function readFileName([file, ...rest]: string[], usage: string): string {
  if (!file || rest.length > 0 || file.startsWith('-')) throw new Error(usage);
  return file;
}

/** @throws Error if SQLite would take the file for one of its own */
export function refuseCompanions(file: string): void {
  const [, database, end] = /^(.+)(-wal|-shm|-journal)$/s.exec(file) ?? [];
  if (database && existsSync(database))
    throw new Error(`${file} is where SQLite keeps changes of ${database}: take a name that does not end with ${end}.`);
}

/** Sets the exit code 1 after a failure. */
export async function runCommand(options: CommandOptions): Promise<void> {
  try {
    await run(options);
  } catch (error) {
    // The message may repeat the contents of a file.
    console.error(toPrintableLines(toWords(error as Error, options.ifUnknown)));
    process.exitCode = 1;
  }
}

async function run({ readCommand, env, tell }: CommandOptions): Promise<void> {
  const command = readCommand();
  const config = loadConfig(env);
  for (const warning of config.warnings) console.error(`Warning: ${warning}`);
  const { database } = config;
  if (database.kind === 'memory') throw new Error('DATABASE_URL is in memory, which no other program can see.');
  const missing = missingFile(database);
  if (missing && !command.makesDatabase) {
    throw new Error(`There is no database ${missing}. Go to the folder of the service, or set DATABASE_URL.`);
  }
  const store = await openStore(database, domain, config);
  try {
    tell(await command.run(store));
    if (missing) console.error(`There was no database yet. A new one was made: ${missing}`);
  } finally {
    await store.close();
  }
}

/** Why the command failed, and what that means for the database. */
function toWords(error: Error, ifUnknown: string): string {
  if (!(error instanceof StoreUnavailable)) return error.message;
  const outcome = error.kind === 'outcome_unknown' ? ifUnknown : 'Nothing was changed.';
  return `The database cannot be used now: ${(error.cause as Error).message}. ${outcome}`;
}
