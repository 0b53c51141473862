/** The contract's YAML -> the JSON that it says. A build keeps that: to parse the YAML takes a fifth of a start. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parse, parseNumberAndBigInt, stringify } from 'lossless-json';
import type { YAMLError } from 'yaml';
import { ContractError } from './contract.ts';

/** Part of a built program; one that runs from its sources has none. */
const KEPT = new URL('../../../contract.json', import.meta.url);

interface Kept {
  /** Of the YAML. */
  sha256: string;
  json: string;
}

export interface Source {
  yaml: Buffer;
  /** With every digit of its numbers. */
  json: string;
}

/** @throws ContractError where it is not YAML */
export async function readSource(file: URL | string, keptIn: URL | string = KEPT): Promise<Source> {
  const yaml = readFileSync(file);
  const kept: Kept | undefined = existsSync(keptIn) ? JSON.parse(readFileSync(keptIn, 'utf8')) : undefined;
  return { yaml, json: kept?.sha256 === sha256Of(yaml) ? kept.json : await toJson(yaml) };
}

/** For the program that this file is a part of. @throws ContractError where it is not YAML */
export async function keepSource(file: URL | string, keptIn: URL | string = KEPT): Promise<void> {
  const yaml = readFileSync(file);
  const kept: Kept = { sha256: sha256Of(yaml), json: await toJson(yaml) };
  writeFileSync(keptIn, JSON.stringify(kept));
}

async function toJson(yaml: Buffer): Promise<string> {
  const text = yaml.toString('utf8');
  return stringify(readJson(text) ?? (await readYaml(text))) as string;
}

/** JSON is YAML, but read as such it takes many times longer. */
function readJson(text: string): unknown {
  try {
    return parse(text, null, parseNumberAndBigInt);
  } catch {
    return undefined;
  }
}

async function readYaml(text: string): Promise<unknown> {
  const { parseDocument } = await import('yaml');
  // Merge keys are of YAML 1.1, and many write them.
  const document = parseDocument(text, { intAsBigInt: true, merge: true });
  // One slip is the cause of those behind it, and an unknown tag would change what a value is.
  const [fault] = [...document.errors, ...document.warnings];
  if (fault) throw new ContractError([toLine(fault)]);
  try {
    return document.toJS();
  } catch (error) {
    throw new ContractError([(error as Error).message]);
  }
}

/** Without the lines of the file that the parser shows below. */
function toLine({ message, linePos }: YAMLError): string {
  const [start] = linePos as [{ line: number; col: number }];
  const [words] = message.split(/ at line \d+/, 1);
  return `line ${start.line}, column ${start.col}: ${words}`;
}

function sha256Of(yaml: Buffer): string {
  return createHash('sha256').update(yaml).digest('hex');
}
