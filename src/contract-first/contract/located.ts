/** Finds the file, line and column of a problem, in the form that editors and terminals understand. Loaded after a refusal only. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Document, LineCounter, parseDocument } from 'yaml';
import { ContractError } from '../engine/contract/contract.ts';
import { fromStep } from '../json/pointer.ts';
import { keysOfOperations, offsetsOfTexts, type Place, Places } from './places.ts';

/** `openapi/books.yaml:25:7`, the place of a problem in the file of this name, whose text this is. */
export function buildPlaceOf(text: string, name: string): (problem: string) => string {
  let offsetOf: ((problem: string) => number) | undefined;
  const lines = new LineCounter();
  return (problem) => {
    const [, line, column] = AT.exec(problem) ?? [];
    if (line) return `${name}:${line}:${column}`;
    offsetOf ??= buildOffsetOf(parseDocument(text, { lineCounter: lines, merge: true }));
    const { line: row, col } = lines.linePos(offsetOf(problem));
    return `${name}:${row}:${col}`;
  };
}

/** The parser's place. */
const AT = /^line (\d+), column (\d+): /;

/** The words of a problem that is told behind its place. */
export const withoutPlace = (problem: string) => problem.replace(AT, '');

/** The problems, each behind its place. A slip that several operations share is told once. */
export function toLocated(problems: string[], text: string, name: string): string[] {
  const placeOf = buildPlaceOf(text, name);
  const told = new Map<string, { line: string; others: number }>();
  for (const problem of problems) {
    const line = `${placeOf(problem)}: ${withoutPlace(problem)}`;
    const slip = withoutOperation(line);
    const known = told.get(slip);
    if (known) known.others++;
    else told.set(slip, { line, others: 0 });
  }
  return [...told.values()].map(({ line, others }) => (others === 0 ? line : `${line} (and ${others} more like it)`));
}

/** The line without the operation, and the part of it, that its words begin with. */
function withoutOperation(line: string): string {
  const [place] = line.split(' operation ', 1);
  const slip = behind(line, ' operation ')
    .replace(/^\S+ /, '')
    .replace(/^response \w+: /, '');
  return `${place} ${slip.replace(/^(?:parameter [^\s:]+|(?:its |request\.)?body[^\s:]*|request\.\w+\.[^\s:]+): /, '')}`;
}

/** The error of a contract that is refused, with the places in its file. */
export function withPlaces(error: unknown, file: URL): unknown {
  if (!(error instanceof ContractError)) return error;
  const name = relative(process.cwd(), fileURLToPath(file));
  return new ContractError(toLocated(error.problems, readFileSync(file, 'utf8'), name));
}

/** The text behind the words; empty where they are not in it. */
const behind = (text: string, words: string): string => text.split(words).slice(1).join(words);

/** The text of the contract that a problem is about: a reference, or a pattern. */
function textIn(problem: string): string | undefined {
  const [, reference] = /(?:^|: )\$ref (\S+) /.exec(problem) ?? /(?:^|: )(#\/\S+) refers to itself/.exec(problem) ?? [];
  if (reference !== undefined) return reference;
  const expression = behind(problem, 'regular expression: /');
  if (expression !== '') return expression.slice(0, expression.lastIndexOf('/'));
  const [text = '', ...others] = behind(problem, 'pattern ').split(/ takes | is no | is too | means nothing/);
  if (others.length === 0) return undefined;
  return problem.includes(' means nothing') ? text.slice(0, text.lastIndexOf(': ')) : text;
}

/** The words that begin a problem, one after the other: `response 404: header Link …`. The keys lead to the part that they name. */
const WORDS: [words: RegExp, keys: (name: string) => string[]][] = [
  [/^path (\S+): /, (path) => ['paths', path]],
  [/^security scheme (\S+): /, (name) => ['components', 'securitySchemes', name]],
  [/^schema (\S+): /, (name) => ['components', 'schemas', name]],
  [/^field (\S+): /, (name) => ['properties', name]],
  [/^response (\w+): /, (status) => ['responses', status]],
  [/^link (\S+): /, (name) => ['links', name]],
  [/^header ([^\s:]+):? /, (name) => ['headers', name]],
  [/^(?:path )?parameter \{?([^\s{}]+?)\}?:? /, (name) => ['parameters', name]],
  [/^request\.(?:query|path|headers?)\.([^.:\s]+)(?:\.[^:\s]*)?: /, (name) => ['parameters', name]],
  [
    /^(?:its body|(?:request\.)?body)((?:\.[^.:\s]+)*): /,
    (names) => ['requestBody', 'schema', ...names.split('.').slice(1)],
  ],
];

/** Returns the number of characters before the place of a problem; 0 where it is about no part of the text. */
function buildOffsetOf(document: Document.Parsed): (problem: string) => number {
  const places = new Places(document);
  let texts: Map<string, number> | undefined;
  let operations: Map<string, string[]> | undefined;
  return (problem) => {
    const [, pointer] = /^#?(\/\S*?):?\s/.exec(problem) ?? [];
    if (pointer) return places.reach(places.root, pointer.slice(1).split('/').map(fromStep)).offset;
    const text = textIn(problem);
    if (text !== undefined) texts ??= offsetsOfTexts(document);
    const known = text === undefined ? undefined : texts?.get(text);
    if (known !== undefined) return known;
    const [, id, words = problem] = /^operation (\S+): (.*)$/s.exec(problem) ?? [];
    if (id !== undefined) operations ??= keysOfOperations(document);
    return toPlace(places, operations?.get(id as string) ?? [], words).offset;
  };
}

/** The place that words name, within the operation to which the keys lead. */
function toPlace(places: Places, keys: string[], words: string, from = places.reach(places.root, keys)): Place {
  const [start, toKeys] = WORDS.find(([start]) => start.test(words)) ?? [];
  // The first word of a fault may be the keyword that has it.
  if (!start || !toKeys) return from.left > 0 ? from : places.reach(from, [/^[\w$-]*/.exec(words)?.[0] as string]);
  const [said, name] = start.exec(words) as unknown as [string, string];
  const whole = toKeys(name);
  // A parameter may be one of the path. The body of a response is in the response itself.
  const item = places.reach(places.root, keys.slice(0, 2));
  const found = [places.reach(from, whole), places.reach(item, whole), places.reach(from, whole.slice(1))];
  const [next] = found.sort((one, other) => one.left - other.left);
  return toPlace(places, keys, words.slice(said.length), next);
}
