/** Copies everything in one database into another, empty one. */
import { domain } from '../../../generated/domain.ts';
import { toPrintableLines } from '../../json/literals.ts';
import type { Database } from '../../store/database-url.ts';
import { nameOfDatabase } from '../../store/inspection.ts';
import { move } from '../../store/move.ts';
import { missingFile } from '../../store/open-store.ts';
import { loadConfig } from '../config.ts';

const USAGE = `Usage:
  npm run move -- <source> <target>             copies all ${Object.keys(domain).join(', ')} and keys of one database into another, empty one
  node dist/src/operate/cli/move.js <source> <target>   the same without development tools

Each is a file of SQLite, or a DATABASE_URL.`;

try {
  console.error(toPrintableLines(await run(process.argv.slice(2))));
} catch (error) {
  console.error(toPrintableLines((error as Error).message));
  process.exitCode = 1;
}

async function run([source, target, ...rest]: string[]): Promise<string> {
  if (!source || !target || rest.length > 0 || source.startsWith('-')) throw new Error(USAGE);
  const [from, to] = [toDatabase(source), toDatabase(target)];
  const missing = missingFile(from);
  if (missing) throw new Error(`There is no database ${missing}.`);
  const counts = await move(from, to, domain);
  const moved = [...counts].map(([word, count]) => `${count.toLocaleString('en')} ${word}`);
  return `Moved ${moved.join(', ')} from ${nameOfDatabase(from)} to ${nameOfDatabase(to)}.`;
}

/** As the configuration reads it, with the options of its URL. */
function toDatabase(text: string): Database {
  const url = /^\w+:/.test(text) ? text : `sqlite:${text}`;
  return loadConfig({ ...process.env, DATABASE_URL: url, DATABASE_URL_FILE: '' }).database;
}
