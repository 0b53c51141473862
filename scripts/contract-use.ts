/**
 * Shows what of a contract is served, what is refused, why, and what to change: `npm run contract:use -- <file or URL>`. With
 * `--write`, puts it in the place of ours, makes a handler that answers 501 for each operation without one, and a first `src/errors.ts`,
 * where there is none. Where handlers would be left without an operation, nothing is written; `--replace-handlers` removes all that
 * there are, and writes `src/errors.ts` anew, unless it makes the errors of the contract already.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { toPrintableLines } from '../src/store/api-keys.ts';
import { withFile } from './contract-use/fetching.ts';
import { judge } from './contract-use/judgement.ts';
import { place } from './contract-use/placing.ts';
import { toTable } from './contract-use/table.ts';

const ROOT = new URL('..', import.meta.url);
const OPTIONS = { write: { type: 'boolean' }, 'replace-handlers': { type: 'boolean' } } as const;

/** What to print; the exit code is 1 where the contract is refused. @throws Error for wrong arguments, and files that cannot be read */
export async function use(args: string[], root = ROOT): Promise<{ text: string; code: number }> {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const [source, ...others] = positionals;
  if (!source || others.length > 0) {
    throw new Error('npm run contract:use -- <file or URL> [--write [--replace-handlers]]');
  }
  return withFile(source, (file) => useFile(file, values, root));
}

async function useFile(file: string, values: { write?: boolean; 'replace-handlers'?: boolean }, root: URL) {
  const judgement = await judge(file);
  const table = toTable(judgement);
  if (judgement.rows.some(({ problems }) => problems.length > 0)) return { text: table, code: 1 };
  if (!values.write) return { text: `${table}\n\nTo put it in place: --write`, code: 0 };
  const errors = new URL('src/errors.ts', root);
  const keepsErrors = existsSync(errors) && (await judgement.fits(readFileSync(errors, 'utf8')));
  const { text, isDone } = place(file, judgement, root, { replaces: values['replace-handlers'] === true, keepsErrors });
  return { text: `${table}\n\n${text}`, code: isDone ? 0 : 1 };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { text, code } = await use(process.argv.slice(2)).catch(({ message }: Error) => ({ text: message, code: 1 }));
  // A stranger's names, paths and texts are in it.
  console.log(toPrintableLines(text));
  process.exitCode = code;
}
