/** Converts the contract's YAML to JSON. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { stringify } from 'lossless-json';
import type { Alias, Document, Node } from 'yaml';
import { ContractError } from '../../engine/contract/contract.ts';
import { parseWithBigints } from '../../engine/contract/numbers.ts';
import type { Bundle } from './bundle.ts';
import { isInFiles } from './file-references.ts';

export interface ContractSource {
  /** The bytes of the file; if the contract is in several files, the bundle as YAML. */
  yaml: Buffer;
  /** The contract as JSON, with every digit of its numbers. */
  json: string;
  /**
   * The offsets where the value of `servers` starts and ends in a YAML file. Without `servers`, both are the offset
   * where `servers` can be inserted.
   */
  serversAt?: [start: number, end: number] | undefined;
  /** The bundle, if the contract is in several files. */
  bundle?: Bundle;
}

/** Reads a contract with all its files. @throws ContractError if a text is not YAML, or a reference to another file leads nowhere */
export async function readSource(file: URL | string): Promise<ContractSource> {
  const source = await readFiles(file);
  const { missing = [] } = source.bundle ?? {};
  if (missing.length > 0) throw new ContractError(missing);
  return source;
}

/**
 * Reads a contract with all its files, as `readSource` does. References to other files without a target do not throw
 * here: `bundle.missing` lists them.
 * @throws ContractError if the text of the first file is not YAML
 */
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
  // The bundle is written as YAML 1.1, which many programs read. In this version, more texts are quoted: YAML 1.1 reads
  // `no` as false, for example.
  const text = toYaml(bundle.document, { aliasDuplicateObjects: false, version: '1.1' });
  const { serversAt } = await readYaml(text);
  return { yaml: Buffer.from(text), json: stringify(bundle.document) as string, serversAt, bundle };
}

/** True if a `$ref` in the text of a contract, YAML or JSON, may lead to another file. */
export const mayBeInFiles = (text: string): boolean => /\$ref["']?\s*:\s*(?!\s|["']?#)/.test(text);

async function read(file: URL | string): Promise<ContractSource> {
  const yaml = readFileSync(file);
  const text = yaml.toString('utf8');
  const known = isShallowJson(text) ? readJson(text) : undefined;
  const { source, serversAt } = known === undefined ? await readYaml(text) : { source: known };
  return { yaml, json: stringify(source) as string, serversAt };
}

/** Parses a text as JSON; undefined if it is not JSON. JSON is also YAML, but the YAML parser takes many times longer. */
function readJson(text: string): unknown {
  try {
    return parseWithBigints(text);
  } catch {
    return undefined;
  }
}

async function readYaml(text: string) {
  const { Composer, Parser } = await import('yaml');
  const tokens = [...new Parser().parse(text)];
  for (const token of tokens) checkLevels(token, text);
  // Merge keys (`<<`) are from YAML 1.1, but many contracts use them.
  const options = { intAsBigInt: true, merge: true };
  const [document, another] = [...new Composer(options).compose(tokens, true, text.length)] as [Document, Document?];
  // Only the first error is reported, because it causes the later ones. A warning about an unknown tag counts as an
  // error, because the parser then reads the value as if the tag were missing.
  const [fault] = [...document.errors, ...document.warnings];
  if (fault) throw new ContractError([`${toPosition(text, fault.pos[0])}: ${fault.message}`]);
  if (another)
    throw new ContractError([`${toPosition(text, another.range?.[0] as number)}: a second document begins here`]);
  const { first, problem } = await readAliases(document);
  const toError = (words: string) =>
    new ContractError([first ? `${toPosition(text, first.range[0])}: ${words}` : words]);
  if (problem !== undefined) throw toError(problem);
  try {
    return { source: document.toJS() as unknown, serversAt: findServers(document, text) };
  } catch (error) {
    throw toError((error as Error).message);
  }
}

interface Aliases {
  /** The first faulty alias of the document, or its first alias if none is faulty. */
  first?: Alias.Parsed;
  problem?: string;
}

/** Finds the first faulty alias: one without an anchor before it, or one inside the node with its anchor. */
async function readAliases(document: Document): Promise<Aliases> {
  const { isAlias, visit } = await import('yaml');
  const anchors = new Map<string, Node>();
  const found: Aliases = {};
  visit(document, {
    Node(_key, node, path) {
      if (!isAlias(node)) {
        if (node.anchor) anchors.set(node.anchor, node);
        return;
      }
      found.first ??= node as Alias.Parsed;
      const target = anchors.get(node.source);
      if (found.problem !== undefined || (target && !path.includes(target))) return;
      found.first = node as Alias.Parsed;
      found.problem = target
        ? `*${node.source} is a part of itself`
        : `*${node.source} refers to nothing: there is no &${node.source} before it`;
    },
  });
  return found;
}

/**
 * The maximum depth of nested objects and lists. Parsers recurse at each level and would exhaust the stack. V8 even
 * aborts the process if a regular expression runs when the stack is almost full.
 */
const MOST_LEVELS = 200;

/** True if a text starts like JSON, and its objects and lists are not nested deeper than `MOST_LEVELS`. */
function isShallowJson(text: string): boolean {
  let level = 0;
  for (const [sign] of text.matchAll(/"(?:[^"\\]|\\.)*["\\]?|[[{\]}]/gs)) {
    if (sign === '[' || sign === '{') level++;
    else if (sign === ']' || sign === '}') level--;
    if (level > MOST_LEVELS) return false;
  }
  return /^\s*[[{]/.test(text);
}

/** Checks the depth of a YAML document. @throws ContractError if it is nested too deeply */
function checkLevels(token: unknown, text: string): void {
  const left: [unknown, number][] = [[token, 0]];
  for (let next = left.pop(); next; next = left.pop()) {
    const [node, level] = next;
    const { offset, value, items = [] } = node as { offset: number; value?: object; items?: CstItem[] };
    if (level > MOST_LEVELS)
      throw new ContractError([`${toPosition(text, offset)}: more than ${MOST_LEVELS} objects and lists are nested`]);
    for (const one of [value, ...items.flatMap(({ key, value: inside }) => [key, inside])])
      if (one) left.push([one, level + Number(items.length > 0)]);
  }
}

/** An item of a list, or a key and its value, as yaml's parser returns it. */
interface CstItem {
  key?: object | null;
  value?: object;
}

function toPosition(text: string, offset: number): string {
  const lines = text.slice(0, offset).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1) as string).length + 1}`;
}

/**
 * Finds the offsets of the value of `servers`. Returns undefined for a list with anchors or aliases, because other
 * parts may refer to them, and for a file in flow style.
 */
function findServers({ contents }: Document, text: string): ContractSource['serversAt'] {
  const { range, flow, items = [] } = Object(contents);
  if (!range || flow) return undefined;
  const value = items.find(({ key }: { key: unknown }) => String(key) === 'servers')?.value;
  const [start, end] = value?.range ?? [range[1], range[1]];
  return value?.anchor || /[&*]/.test(text.slice(start, end)) ? undefined : [start, end];
}
