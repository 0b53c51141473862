/**
 * Shows which operations of a contract are served, which are refused, why, and what to change. Fixes harmless mistakes, and lists them. With
 * `--write OUT`, writes the contract's normal form to a new file.
 */
import { parseArgs } from 'node:util';
import { toPrintable, toPrintableLines } from '../json/literals.ts';
import { withFile } from './contract-inspect/fetching.ts';
import { withFixes } from './contract-inspect/fixed-file.ts';
import { judge } from './contract-inspect/judgement.ts';
import { writeNormalForm } from './contract-inspect/normal-form.ts';
import { toTable } from './contract-inspect/table.ts';

/** The text to print; the exit code is 1 if the contract is refused. @throws Error for wrong arguments, and files that cannot be read or written */
export async function inspect(args: string[]): Promise<{ text: string; code: number }> {
  const { values, positionals } = parseArgs({ args, options: { write: { type: 'string' } }, allowPositionals: true });
  const [source, ...others] = positionals;
  if (!source || others.length > 0) throw new Error('contract-first inspect FILE|URL [--write OUT]');
  const run = async (file: string, original: string, changes: string[]) => {
    const judgement = await judge(file, { file: original, name: source });
    const lines = [...toChanges(changes), toTable(judgement)];
    const isRefused = judgement.rows.some(({ problems }) => problems.length > 0);
    if (values.write !== undefined && !isRefused) lines.push('', await writeNormalForm(file, values.write));
    return { text: lines.join('\n'), code: Number(isRefused) };
  };
  return withFile(source, (file) => withFixes(file, (fixed, changes) => run(fixed, file, changes), source));
}

/** How many changes are listed. */
const MOST_CHANGES = 20;

function toChanges(changes: string[]): string[] {
  const listed = changes.slice(0, MOST_CHANGES).map((change) => toPrintable(`changed: ${change}`));
  const more = changes.length - listed.length;
  return [
    ...listed,
    ...(more > 0 ? [`changed: ${more} more, which are not listed`] : []),
    ...(changes.length > 0 ? [''] : []),
  ];
}

/** Prints it, and returns the exit code. */
export async function run(args: string[]): Promise<number> {
  const { text, code } = await inspect(args).catch(({ message }: Error) => ({
    text: toPrintableLines(message),
    code: 1,
  }));
  console.log(text);
  return code;
}
