/** Converts the contract's YAML to JSON. */
import { readFileSync } from 'node:fs';
import { stringify } from 'lossless-json';
import type { YAMLError } from 'yaml';
import { ContractError } from '../../engine/contract/contract.ts';
import { parseWithBigints } from '../../engine/contract/numbers.ts';

export interface Source {
  yaml: Buffer;
  /** With every digit of its numbers. */
  json: string;
}

/** @throws ContractError if the text is not YAML */
export async function readSource(file: URL | string): Promise<Source> {
  const yaml = readFileSync(file);
  return { yaml, json: await toJson(yaml) };
}

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
