/** Converts the contract's YAML to JSON. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { stringify } from 'lossless-json';
import type { Document, YAMLError } from 'yaml';
import { ContractError } from '../../engine/contract/contract.ts';
import { parseWithBigints } from '../../engine/contract/numbers.ts';
import type { Bundle } from './bundle.ts';
import { isInFiles } from './file-references.ts';

export interface ContractSource {
  /** The file, byte for byte; of a contract in several files, their bundle. */
  yaml: Buffer;
  /** With every digit of its numbers. */
  json: string;
  /** Where in the text of a YAML file the list of its servers stands, or could stand. */
  serversAt?: [start: number, end: number] | undefined;
  /** Of a contract in several files. */
  bundle?: Bundle;
}

/** @throws ContractError if a text is not YAML, or a reference to another file leads to nothing */
export async function readSource(file: URL | string): Promise<ContractSource> {
  const source = await readFiles(file);
  const { missing = [] } = source.bundle ?? {};
  if (missing.length > 0) throw new ContractError(missing);
  return source;
}

/** As `readSource`, with references to other files that lead to nothing. @throws ContractError if the text of the first file is not YAML */
export async function readFiles(file: URL | string): Promise<ContractSource> {
  const source = await read(file);
  const { json } = source;
  if (!mayBeInFiles(json)) return source;
  const document = parseWithBigints(json);
  if (!isInFiles(document) || !/^3\.[01]/.test(Object(document).openapi)) return source;
  const { bundleFiles } = await import('./bundle.ts');
  const path = file instanceof URL ? fileURLToPath(file) : file;
  const bundle = await bundleFiles(path, async (one) => (await read(one)).json);
  const { stringify: toYaml } = await import('yaml');
  // YAML 1.1 has more words and numbers that a text must be quoted for: many programs read it.
  const text = toYaml(bundle.document, { aliasDuplicateObjects: false, version: '1.1' });
  const { serversAt } = await readYaml(text);
  return { yaml: Buffer.from(text), json: stringify(bundle.document) as string, serversAt, bundle };
}

/** Whether a reference in the text of a contract, YAML or JSON, may lead to another file. */
export const mayBeInFiles = (text: string): boolean => /\$ref["']?\s*:\s*(?!\s|["']?#)/.test(text);

async function read(file: URL | string): Promise<ContractSource> {
  const yaml = readFileSync(file);
  const text = yaml.toString('utf8');
  const known = readJson(text);
  const { source, serversAt } = known === undefined ? await readYaml(text) : { source: known };
  return { yaml, json: stringify(source) as string, serversAt };
}

/** Tries JSON first: it is YAML, too, but the YAML parser takes many times longer. */
function readJson(text: string): unknown {
  try {
    return parseWithBigints(text);
  } catch {
    return undefined;
  }
}

async function readYaml(text: string) {
  const { parseDocument } = await import('yaml');
  // Merge keys are from YAML 1.1, but widely used.
  const document = parseDocument(text, { intAsBigInt: true, merge: true });
  // Only the first error, since it causes the later ones. A warning about an unknown tag counts, because the tag changes the value.
  const [fault] = [...document.errors, ...document.warnings];
  if (fault) throw new ContractError([toLine(fault)]);
  try {
    return { source: document.toJS() as unknown, serversAt: findServers(document, text) };
  } catch (error) {
    throw new ContractError([(error as Error).message]);
  }
}

/** Undefined for a list with anchors, which may be used elsewhere, and for a file in flow style. */
function findServers({ contents }: Document, text: string): ContractSource['serversAt'] {
  const { range, flow, items = [] } = Object(contents);
  if (!range || flow) return undefined;
  const value = items.find(({ key }: { key: unknown }) => String(key) === 'servers')?.value;
  const [start, end] = value?.range ?? [range[1], range[1]];
  return value?.anchor || /[&*]/.test(text.slice(start, end)) ? undefined : [start, end];
}

/** The parser's message without the lines of the file that follow it. */
function toLine({ message, linePos }: YAMLError): string {
  const [start] = linePos as [{ line: number; col: number }];
  const [words] = message.split(/ at line \d+/, 1);
  return `line ${start.line}, column ${start.col}: ${words}`;
}
