/**
 * Shows what of a contract is served, what is refused, why, and what to change: `npm run contract:use -- <file or URL>`. Slips in it that
 * say nothing are set right, and told; it is served when a server of it has started, in a copy of the project, with the handlers that stay
 * and fit, or with new ones. With `--write`, puts it in the place of ours, makes a handler that answers 501 for each operation without one,
 * and a first `src/errors.ts`, where there is none. Where handlers would be left without an operation, nothing is tried or written;
 * `--replace-handlers` removes all that there are, and each domain of theirs that does not compile with it, and writes `src/errors.ts`
 * anew, unless it makes the errors of the contract already.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { toPrintableLines } from '../src/json/literals.ts';
import { withFile } from './contract-use/fetching.ts';
import { judge } from './contract-use/judgement.ts';
import { withMended } from './contract-use/mended-file.ts';
import { findOthers, place } from './contract-use/placing.ts';
import { toTable } from './contract-use/table.ts';
import { STEPS, type Step, tryOut } from './contract-use/trial.ts';

const ROOT = new URL('..', import.meta.url);
const OPTIONS = { write: { type: 'boolean' }, 'replace-handlers': { type: 'boolean' } } as const;

/** The text to print; the exit code is 1 if the contract is refused. @throws Error for wrong arguments, and files that cannot be read */
export async function use(args: string[], root = ROOT, steps = STEPS): Promise<{ text: string; code: number }> {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const [source, ...others] = positionals;
  if (!source || others.length > 0) {
    throw new Error('npm run contract:use -- <file or URL> [--write [--replace-handlers]]');
  }
  return withFile(source, (file) => {
    const run = async (mended: string, changes: string[]) => {
      const { text, code } = await useFile(mended, { file, name: source }, values, { root, steps });
      return { text: [...toChanges(changes), text].join('\n'), code };
    };
    return withMended(file, run, source);
  });
}

async function useFile(
  file: string,
  original: { file: string; name: string },
  values: { write?: boolean; 'replace-handlers'?: boolean },
  { root, steps }: { root: URL; steps: Step[] },
) {
  const judgement = await judge(file, original);
  if (judgement.rows.some(({ problems }) => problems.length > 0)) return { text: toTable(judgement), code: 1 };
  const replaces = values['replace-handlers'] === true;
  // Handlers that would have no operation are moved, or replaced, before anything is tried.
  const others = replaces ? [] : findOthers(judgement.ids, root);
  if (values.write && others.length > 0) return { text: toUnwritten(others), code: 1 };
  const errors = new URL('src/errors.ts', root);
  const keepsErrors = existsSync(errors) && (await judgement.fits(readFileSync(errors, 'utf8')));
  const begin = performance.now();
  const isNew = replaces || others.length > 0;
  const { faults, ...unfit } = await tryOut(file, judgement, root, { keepsErrors, replaces: isNew, steps });
  if (faults.length > 0) return { text: toTable({ ...judgement, rows: [toRow(faults)] }), code: 1 };
  const seconds = Math.ceil((performance.now() - begin) / 1000);
  const table = `${toTable(judgement)}\nIn a copy with ${isNew ? 'new handlers' : 'the handlers that fit it'}, it was generated, compiled and started, in ${seconds} s.`;
  if (!values.write) return { text: `${table}\n\nTo put it in place: --write${isNew ? ALL_NEW : ''}`, code: 0 };
  return { text: `${table}\n\n${place(file, judgement, root, { replaces, keepsErrors, ...unfit })}`, code: 0 };
}

const ALL_NEW = ' --replace-handlers, which removes all handlers that there are';

const toUnwritten = (others: string[]) =>
  `Nothing is written: in handlers/, ${others.join(', ')} would have no operation. Move them, or add${ALL_NEW}.`;

/** How many changes are told one by one. */
const MOST_CHANGES = 20;

function toChanges(changes: string[]): string[] {
  const told = changes.slice(0, MOST_CHANGES).map((change) => `changed: ${change}`);
  const more = changes.length - told.length;
  return [
    ...told,
    ...(more > 0 ? [`changed: ${more} more, which are not listed`] : []),
    ...(changes.length > 0 ? [''] : []),
  ];
}

const toRow = (faults: string[]) => ({
  name: 'the contract',
  request: '',
  problems: faults.map((problem) => ({ problem, advice: undefined })),
});

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { text, code } = await use(process.argv.slice(2)).catch(({ message }: Error) => ({ text: message, code: 1 }));
  // A stranger's names, paths and texts are in it.
  console.log(toPrintableLines(text));
  process.exitCode = code;
}
