/** Converts the contract's YAML to JSON. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { stringify } from 'lossless-json';
import type { YAMLError } from 'yaml';
import { ContractError } from '../../engine/contract/contract.ts';
import { parseWithBigints } from '../../engine/contract/numbers.ts';
import type { Bundle } from './bundle.ts';

export interface Source {
  /** The file, byte for byte; of a contract in several files, their bundle. */
  yaml: Buffer;
  /** With every digit of its numbers. */
  json: string;
  /** Of a contract in several files. */
  bundle?: Bundle;
}

/** @throws ContractError if a text is not YAML, or a reference to another file leads to nothing */
export async function readSource(file: URL | string): Promise<Source> {
  const source = await readFiles(file);
  const { missing = [] } = source.bundle ?? {};
  if (missing.length > 0) throw new ContractError(missing);
  return source;
}

/** As `readSource`, with references to other files that lead to nothing. @throws ContractError if the text of the first file is not YAML */
export async function readFiles(file: URL | string): Promise<Source> {
  const yaml = readFileSync(file);
  const json = await toJson(yaml);
  if (!mayBeInFiles(json)) return { yaml, json };
  const { bundleFiles, isInFiles } = await import('./bundle.ts');
  const document = parseWithBigints(json);
  if (!isInFiles(document) || !/^3\.[01]/.test(Object(document).openapi)) return { yaml, json };
  const bundle = await bundleFiles(file instanceof URL ? fileURLToPath(file) : file, async (one) =>
    toJson(readFileSync(one)),
  );
  const { stringify: toYaml } = await import('yaml');
  // YAML 1.1 has more words and numbers that a text must be quoted for: many programs read it.
  const text = toYaml(bundle.document, { aliasDuplicateObjects: false, version: '1.1' });
  return { yaml: Buffer.from(text), json: stringify(bundle.document) as string, bundle };
}

/** Whether a reference in the text of a contract, YAML or JSON, may lead to another file. */
export const mayBeInFiles = (text: string): boolean => /\$ref["']?\s*:\s*(?!\s|["']?#)/.test(text);

async function toJson(yaml: Buffer): Promise<string> {
  const text = yaml.toString('utf8');
  return stringify(readJson(text) ?? (await readYaml(text))) as string;
}

/** Tries JSON first: it is YAML, too, but the YAML parser takes many times longer. */
function readJson(text: string): unknown {
  try {
    return parseWithBigints(text);
  } catch {
    return undefined;
  }
}

async function readYaml(text: string): Promise<unknown> {
  const { parseDocument } = await import('yaml');
  // Merge keys are from YAML 1.1, but widely used.
  const document = parseDocument(text, { intAsBigInt: true, merge: true });
  // Only the first error, since it causes the later ones. A warning about an unknown tag counts, because the tag changes the value.
  const [fault] = [...document.errors, ...document.warnings];
  if (fault) throw new ContractError([toLine(fault)]);
  try {
    return document.toJS();
  } catch (error) {
    throw new ContractError([(error as Error).message]);
  }
}

/** The parser's message without the lines of the file that follow it. */
function toLine({ message, linePos }: YAMLError): string {
  const [start] = linePos as [{ line: number; col: number }];
  const [words] = message.split(/ at line \d+/, 1);
  return `line ${start.line}, column ${start.col}: ${words}`;
}
