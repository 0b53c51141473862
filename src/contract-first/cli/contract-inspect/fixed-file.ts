/** A contract with its harmless mistakes fixed, in a file. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CST, Lexer, stringify } from 'yaml';
import { toLocated } from '../../contract/located-problems.ts';
import { type Bundle, isInFiles } from '../../contract/read/bundle.ts';
import { readFiles } from '../../contract/read/source.ts';
import { parseWithBigints } from '../../engine/contract/numbers.ts';
import { isNode } from '../../engine/schema/json.ts';
import { autofix } from './autofix/autofix.ts';

const hasComments = (yaml: string): boolean =>
  [...new Lexer().lex(yaml)].some((token) => CST.tokenType(token) === 'comment');

/** How many files are listed by name. */
const MOST_FILES = 3;

const toNames = (files: string[]) =>
  [...files.slice(0, MOST_FILES), ...(files.length > MOST_FILES ? [`${files.length - MOST_FILES} more`] : [])].join(
    ', ',
  );

/**
 * Runs with the file itself where nothing is to be changed, or where it cannot be read: that is for the judgement to report. Changes name the
 * `source` that it was loaded from. @throws Error that names references to other files that lead to nothing
 */
export async function withFixes<T>(
  file: string,
  run: (file: string, changes: string[]) => Promise<T>,
  source = file,
): Promise<T> {
  const { document, files, missing } = await read(file, source);
  const changes = isNode(document) ? autofix(document) : [];
  if (missing.length > 0 && isInFiles(document)) throw new Error((await toLocated(missing, file)).join('\n'));
  if (changes.length + files.length === 0) return run(file, []);
  const folder = mkdtempSync(join(tmpdir(), 'contract-inspect-'));
  try {
    const fixed = join(folder, 'contract.yaml');
    writeFileSync(fixed, stringify(document, { aliasDuplicateObjects: false }));
    const text = readFileSync(file, 'utf8');
    const lost = hasComments(text) ? [`${source}: it is written anew, without its comments`] : [];
    const joined = files.length > 0 ? [`${source}: ${toNames(files)} written into it`] : [];
    return await run(fixed, [...joined, ...lost, ...(await toLocated(changes, file, source))]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The document, and the other files in it. What is from a URL reads no files. */
async function read(file: string, source: string): Promise<Pick<Bundle, 'document' | 'files' | 'missing'>> {
  const { bundle, json } = await readFiles(file).catch(() => ({ bundle: undefined, json: 'null' }));
  return bundle && source === file ? bundle : { document: parseWithBigints(json), files: [], missing: [] };
}
