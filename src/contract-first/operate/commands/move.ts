/** The command `move`: copies everything in one database into another, empty one. */
import type { Service } from '../../start/service.ts';
import type { Database } from '../../store/database-url.ts';
import { move } from '../../store/move.ts';
import { missingFile, nameOfDatabase } from '../../store/open-store.ts';
import { loadConfig } from '../config.ts';

/** Moves the contents, and returns the text to print. @throws Error with the reason if nothing was moved */
export async function moveAll(
  source: string,
  target: string,
  service: Service,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const [from, to] = [toDatabase(source, service, env), toDatabase(target, service, env)];
  const missing = missingFile(from);
  if (missing) throw new Error(`There is no database ${missing}.`);
  const counts = await move(from, to, service.domain);
  const moved = [...counts].map(([word, count]) => `${count.toLocaleString('en')} ${word}`);
  return `Moved ${moved.join(', ')} from ${nameOfDatabase(from)} to ${nameOfDatabase(to)}.`;
}

/** Parses the URL of a database, or the name of a SQLite file, by the rules of DATABASE_URL. */
function toDatabase(text: string, { name }: Service, env: NodeJS.ProcessEnv): Database {
  const url = /^\w+:/.test(text) ? text : `sqlite:${text}`;
  return loadConfig({ ...env, DATABASE_URL: url, DATABASE_URL_FILE: '' }, { name }).database;
}
