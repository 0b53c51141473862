/**
 * Reads and writes the files of `inspect`: a contract from a URL, a copy with corrected mistakes, and the normal form.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CST, Lexer, stringify } from 'yaml';
import { toLocated } from '../../contract/located-problems.ts';
import type { Bundle } from '../../contract/read/bundle.ts';
import { checkFile, isInFiles, SIZE_LIMIT } from '../../contract/read/file-references.ts';
import { resolvedItem, toCurrent, withIds } from '../../contract/read/normal-form.ts';
import { readFiles, readSource } from '../../contract/read/source.ts';
import { type Document, operationsOf } from '../../engine/contract/document.ts';
import { parseWithBigints } from '../../engine/contract/numbers.ts';
import { isNode } from '../../engine/schema/json.ts';
import { withTemporaryFolder } from '../temporary.ts';
import { autofix } from './autofix/autofix.ts';

/** The maximum time for fetching a contract, in milliseconds. */
const TIME_LIMIT = 10_000;

/**
 * Calls `run` with the file. If the source is a URL, fetches the contract, and calls `run` with a temporary file.
 * @throws Error with a message of one line if the contract cannot be fetched
 */
export async function withFile<T>(
  source: string,
  run: (file: string) => Promise<T>,
  { timeLimit = TIME_LIMIT, sizeLimit = SIZE_LIMIT } = {},
): Promise<T> {
  if (/^https?:\/\//i.test(source)) return withTemporary(await fetchText(source, timeLimit, sizeLimit), run);
  try {
    checkFile(source);
  } catch (error) {
    throw new Error(`${source} cannot be read: ${(error as Error).message}`);
  }
  return run(source);
}

/** Calls `run` with a temporary file, which is removed afterwards. */
const withTemporary = <T>(text: string | Uint8Array, run: (file: string) => Promise<T>): Promise<T> =>
  withTemporaryFolder('contract-inspect-', (folder) => {
    const file = join(folder, 'contract.yaml');
    writeFileSync(file, text);
    return run(file);
  });

async function fetchText(url: string, timeLimit: number, sizeLimit: number): Promise<Uint8Array> {
  let reply: Response;
  let text: Uint8Array;
  try {
    reply = await fetch(url, { signal: AbortSignal.timeout(timeLimit) });
    text = await readBody(reply, sizeLimit);
  } catch (error) {
    const { message, cause } = error as Error;
    throw new Error(`${url} cannot be fetched: ${cause instanceof Error ? cause.message : message}`);
  }
  if (!reply.ok) throw new Error(`${url} cannot be fetched: the server answers ${reply.status}`);
  return text;
}

/**
 * Reads the body of a reply in chunks, and stops at the limit, because a small compressed reply may unpack to many
 * times its size.
 */
async function readBody({ body }: Response, sizeLimit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > sizeLimit) throw new Error(`it has more than ${sizeLimit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const hasComments = (yaml: string): boolean =>
  [...new Lexer().lex(yaml)].some((token) => CST.tokenType(token) === 'comment');

/** The maximum number of files that a message names. */
const MOST_FILES = 3;

const toNames = (files: string[]) =>
  [...files.slice(0, MOST_FILES), ...(files.length > MOST_FILES ? [`${files.length - MOST_FILES} more`] : [])].join(
    ', ',
  );

/**
 * Calls `run` with a corrected copy of the file. If nothing needs to be corrected, or if the file cannot be read, calls
 * `run` with the file itself. `source` is the name of the file in the list of changes.
 * @throws Error that lists dangling references to other files
 */
export async function withFixes<T>(
  file: string,
  run: (file: string, changes: string[]) => Promise<T>,
  source = file,
): Promise<T> {
  const { document, files, missing, renamed } = await read(file, source);
  const changes = isNode(document) ? autofix(document) : [];
  if (missing.length > 0 && isInFiles(document))
    throw new Error(
      (
        await toLocated(
          missing.map((words) => ({ words })),
          file,
        )
      ).join('\n'),
    );
  if (changes.length + files.length === 0) return run(file, []);
  const lost = hasComments(readFileSync(file, 'utf8')) ? [`${source}: it is written anew, without its comments`] : [];
  const joined = files.length > 0 ? [`${source}: ${toNames(files)} written into it`] : [];
  const located = await toLocated(
    changes.map((words) => ({ words })),
    file,
    source,
  );
  return withTemporary(stringify(document, { aliasDuplicateObjects: false }), (fixed) =>
    run(fixed, [...joined, ...renamed.map((line) => `${source}: ${line}`), ...lost, ...located]),
  );
}

/** Reads the document, and the other files that it refers to. For a document from a URL, reads no other files. */
async function read(file: string, source: string): Promise<Pick<Bundle, 'document' | 'files' | 'missing' | 'renamed'>> {
  const { bundle, json } = await readFiles(file).catch(() => ({ bundle: undefined, json: 'null' }));
  return bundle && source === file ? bundle : { document: parseWithBigints(json), files: [], missing: [], renamed: [] };
}

/** The normal form of a contract: OpenAPI 3.1, each operation with its own operationId. */
export interface NormalForm {
  text: string | Uint8Array;
  /** The changes, as phrases for the end of a sentence. Empty if the contract is already in the normal form. */
  changes: string[];
}

/** Makes the normal form. The text of a contract that is already in the normal form stays the same. */
export async function makeNormalForm(file: string): Promise<NormalForm> {
  const { yaml, json } = await readSource(file);
  const document = parseWithBigints(json) as Document;
  const { openapi } = document;
  const current = openapi.startsWith('3.0.') ? toCurrent(document) : document;
  const named = withNames(current);
  // Writes YAML 1.1, which many programs read. YAML 1.1 needs quotes around more texts than YAML 1.2, such as `no`,
  // which YAML 1.1 reads as false.
  const text = named === document ? yaml : stringify(named, { aliasDuplicateObjects: false, version: '1.1' });
  const count = idsOf(named).filter((id) => !idsOf(current).includes(id)).length;
  const changes = [
    ...(current === document ? [] : [`as OpenAPI ${current.openapi} in place of ${openapi}`]),
    ...(count > 0 ? [`with ${count} new operationId${count === 1 ? '' : 's'}`] : []),
  ];
  return { text, changes };
}

/** Writes the normal form to a new file. Returns a line about it. @throws Error */
export function writeNormalForm({ text, changes }: NormalForm, out: string): string {
  try {
    writeFileSync(out, text, { flag: 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`${out} cannot be written: ${code === 'EEXIST' ? 'there is such a file' : message}`);
  }
  return `${[`The contract is written to ${out}`, ...changes].join(', ')}.`;
}

/** Adds missing operationIds. Keeps keys of `paths` that begin with `x-`, although they are not paths. */
function withNames(document: Document): Document {
  const paths = Object.fromEntries(Object.entries(document.paths ?? {}).filter(([path]) => !path.startsWith('x-')));
  const named = withIds({ ...document, paths });
  return named.paths === paths ? document : { ...document, paths: { ...document.paths, ...named.paths } };
}

const idsOf = (document: Document) =>
  Object.values(document.paths ?? {})
    .flatMap((item) => operationsOf(resolvedItem(item, document)))
    .map(([, { operationId }]) => operationId);
