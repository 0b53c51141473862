/**
 * Adds file, line and column to problems, such as `openapi/books.yaml:25:7`. Editors and terminals turn this text into
 * a link. The build loads this module only if a check fails.
 */
import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ContractError } from '../engine/contract/contract.ts';
import type { ContractProblem } from '../engine/schema/json.ts';
import { fromPointerToken } from '../json/pointer.ts';
import { mayBeInFiles, readFiles } from './read/source.ts';
import { type SourceLocation, YamlText } from './yaml-locations.ts';

/**
 * Matches a line and column at the start of a problem that the YAML parser has found. If the problem is in another
 * file, the file's name may precede them.
 */
const AT = /^(?:in (.+?), )?line (\d+), column (\d+): /;
/** Matches the name of a file and a JSON Pointer into this file, at the start of a problem. */
const IN = /^in (.+?), #(\/\S*|): /;
/**
 * Matches a JSON Pointer at the start of a problem's text, if the problem lacks a `pointer`, such as a correction of
 * `cli/inspect/autofix`.
 */
const POINTER = /^(\/\S*) /;

/**
 * Removes the location at the start of a problem's text. The caller prints the location as `file:line:column` instead.
 */
export const withoutLocation = (problem: string) => problem.replace(AT, '').replace(IN, '');

/**
 * Builds a function that returns the location of a problem, such as `openapi/books.yaml:25:7`. `name` is the name to
 * print for `file`.
 */
export async function buildLocationOf(file: string, name = file): Promise<(problem: ContractProblem) => string> {
  const text = readFileSync(file, 'utf8');
  const source = mayBeInFiles(text) ? await readFiles(file).catch(() => undefined) : undefined;
  const { yaml, bundle } = source?.bundle ? source : { yaml: text };
  const nameOf = (part: string) => (part === basename(file) ? name : join(dirname(name), part));
  const texts = new Map<string | undefined, YamlText>();
  const textOf = (path: string | undefined) => {
    const known = texts.get(path) ?? new YamlText(path === undefined ? String(yaml) : readFileSync(path, 'utf8'));
    texts.set(path, known);
    return known;
  };
  const positionOf = (path: string, keys: string[]) => textOf(path).toPosition(textOf(path).reach(keys).offset);
  return ({ words, pointer = POINTER.exec(words)?.[1] ?? '' }) => {
    const [, where, line, column] = AT.exec(words) ?? [];
    if (line) return `${where ? nameOf(where) : name}:${line}:${column}`;
    const [, part, inPart] = IN.exec(words) ?? [];
    if (part) return `${nameOf(part)}:${positionOf(join(dirname(file), part), toKeys(inPart as string))}`;
    const whole = textOf(undefined);
    const { offset } = findPart(whole, toKeys(pointer));
    if (!bundle) return `${name}:${whole.toPosition(offset)}`;
    const origin = bundle.originOf(whole.keysAt(offset));
    return `${nameOf(relative(dirname(resolve(file)), origin.file))}:${positionOf(origin.file, origin.keys)}`;
  };
}

const toKeys = (pointer: string) => pointer.split('/').slice(1).map(fromPointerToken);

/**
 * Returns one line for each problem: its location and its text. A mistake that several operations share gives only one
 * line, with the number of further occurrences.
 */
export async function toLocated(problems: readonly ContractProblem[], file: string, name = file): Promise<string[]> {
  if (problems.length === 0) return [];
  const locationOf = await buildLocationOf(file, name);
  const reported = new Map<string, { line: string; others: number }>();
  for (const problem of problems) {
    const line = `${locationOf(problem)}: ${withoutLocation(problem.words)}`;
    const mistake = withoutOperation(line);
    const known = reported.get(mistake);
    if (known) known.others++;
    else reported.set(mistake, { line, others: 0 });
  }
  return [...reported.values()].map(({ line, others }) =>
    others === 0 ? line : `${line} (and ${others} more like it)`,
  );
}

/**
 * Removes the name of the operation from a line, and the name of its parameter, body or response. Equal mistakes in
 * several operations then give equal texts.
 */
function withoutOperation(line: string): string {
  const [location] = line.split(' operation ', 1);
  const mistake = behind(line, ' operation ')
    .replace(/^\S+ /, '')
    .replace(/^response \w+: /, '');
  return `${location} ${mistake.replace(/^(?:parameter [^\s:]+|(?:its |request\.)?body[^\s:]*|request\.\w+\.[^\s:]+): /, '')}`;
}

/** Adds locations to the problems of a `ContractError`. Returns any other error unchanged. */
export async function withLocations(error: unknown, file: URL): Promise<unknown> {
  if (!(error instanceof ContractError)) return error;
  return new ContractError(await toLocated(error.found, relative(process.cwd(), fileURLToPath(file))));
}

/** Returns the text after the first occurrence of `words`, or an empty text if there is none. */
const behind = (text: string, words: string): string => text.split(words).slice(1).join(words);

/**
 * Returns the location of the last of these keys. If a key is missing, returns the location of the key before it. If an
 * operation does not declare the parameter, looks for it in the path item.
 */
function findPart(yaml: YamlText, keys: string[]): SourceLocation {
  const own = yaml.reach(keys);
  if (own.left === 0 || keys[3] !== 'parameters') return own;
  const shared = yaml.reach(keys.toSpliced(2, 1));
  return shared.left < own.left ? shared : own;
}
