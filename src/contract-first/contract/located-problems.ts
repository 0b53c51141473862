/** Finds the file, line and column of a problem, in the form that editors and terminals understand. Loaded after a refusal only. */
import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Document, LineCounter, parseDocument } from 'yaml';
import { ContractError } from '../engine/contract/contract.ts';
import { fromStep } from '../json/pointer.ts';
import { mayBeInFiles, readFiles } from './read/source.ts';
import { keysAt, keysOfOperations, offsetsOfTexts, type SourceLocation, SourceLocations } from './yaml-locations.ts';

/** A position that the reader has found already, in the contract's file or in another one. */
const AT = /^(?:in (.+?), )?line (\d+), column (\d+): /;
/** A part of one of the files. */
const IN = /^in (.+?), #(\/\S*|): /;

/** The words of a problem that is reported behind its location. */
export const withoutLocation = (problem: string) => problem.replace(AT, '').replace(IN, '');

/** Makes the function that returns `openapi/books.yaml:25:7`, the location of a problem; `name` is what the contract's file is known as. */
export async function buildLocationOf(file: string, name = file): Promise<(problem: string) => string> {
  const text = readFileSync(file, 'utf8');
  const source = mayBeInFiles(text) ? await readFiles(file).catch(() => undefined) : undefined;
  const { yaml, bundle } = source?.bundle ? source : { yaml: text };
  const nameOf = (part: string) => (part === basename(file) ? name : join(dirname(name), part));
  const texts = new Map<string, PositionedText>();
  const textOf = (path: string) => {
    const known = texts.get(path) ?? new PositionedText(readFileSync(path, 'utf8'));
    texts.set(path, known);
    return known;
  };
  const whole = new PositionedText(yaml.toString());
  return (problem) => {
    const [, where, line, column] = AT.exec(problem) ?? [];
    if (line) return `${where ? nameOf(where) : name}:${line}:${column}`;
    const [, part, pointer] = IN.exec(problem) ?? [];
    if (part) return `${nameOf(part)}:${textOf(join(dirname(file), part)).positionOf(toKeys(pointer as string))}`;
    if (!bundle) return `${name}:${whole.toPosition(whole.offsetOf(problem))}`;
    const origin = bundle.originOf(whole.keysAt(whole.offsetOf(problem)));
    return `${nameOf(relative(dirname(resolve(file)), origin.file))}:${textOf(origin.file).positionOf(origin.keys)}`;
  };
}

const toKeys = (pointer: string) => pointer.split('/').slice(1).map(fromStep);

/** A text of YAML, which is parsed when it is first asked. */
class PositionedText {
  readonly #lines = new LineCounter();
  readonly #text: string;
  #document: Document.Parsed | undefined;
  #offsetOf: ((problem: string) => number) | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  get document(): Document.Parsed {
    this.#document ??= parseDocument(this.#text, { lineCounter: this.#lines, merge: true });
    return this.#document;
  }

  offsetOf(problem: string): number {
    this.#offsetOf ??= buildOffsetOf(this.document);
    return this.#offsetOf(problem);
  }

  toPosition(offset: number): string {
    const { line, col } = this.#lines.linePos(offset);
    return `${line}:${col}`;
  }

  positionOf(keys: string[]): string {
    const places = new SourceLocations(this.document);
    return this.toPosition(places.reach(places.root, keys).offset);
  }

  keysAt = (offset: number): string[] => keysAt(this.document.contents, offset);
}

/** The problems, each behind its location. A mistake that several operations share is reported once. */
export async function toLocated(problems: string[], file: string, name = file): Promise<string[]> {
  if (problems.length === 0) return [];
  const locationOf = await buildLocationOf(file, name);
  const reported = new Map<string, { line: string; others: number }>();
  for (const problem of problems) {
    const line = `${locationOf(problem)}: ${withoutLocation(problem)}`;
    const mistake = withoutOperation(line);
    const known = reported.get(mistake);
    if (known) known.others++;
    else reported.set(mistake, { line, others: 0 });
  }
  return [...reported.values()].map(({ line, others }) =>
    others === 0 ? line : `${line} (and ${others} more like it)`,
  );
}

/** The line without the operation, and the part of it, that its words begin with. */
function withoutOperation(line: string): string {
  const [place] = line.split(' operation ', 1);
  const slip = behind(line, ' operation ')
    .replace(/^\S+ /, '')
    .replace(/^response \w+: /, '');
  return `${place} ${slip.replace(/^(?:parameter [^\s:]+|(?:its |request\.)?body[^\s:]*|request\.\w+\.[^\s:]+): /, '')}`;
}

/** The error of a contract that is refused, with the locations in its files. */
export async function withLocations(error: unknown, file: URL): Promise<unknown> {
  if (!(error instanceof ContractError)) return error;
  return new ContractError(await toLocated(error.problems, relative(process.cwd(), fileURLToPath(file))));
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
  const places = new SourceLocations(document);
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
function toPlace(
  places: SourceLocations,
  keys: string[],
  words: string,
  from = places.reach(places.root, keys),
): SourceLocation {
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
