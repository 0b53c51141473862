/** Finds the file, line and column of a problem, in the form that editors and terminals understand. Loaded only if a check fails. */
import { readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ContractError } from '../engine/contract/contract.ts';
import { fromPointerToken } from '../json/pointer.ts';
import { mayBeInFiles, readFiles } from './read/source.ts';
import { type SourceLocation, YamlText } from './yaml-locations.ts';

/** A position in a problem that the reader has already found, in the contract's file or in another file. */
const AT = /^(?:in (.+?), )?line (\d+), column (\d+): /;
/** A JSON Pointer in a problem, to a part of one of the files. */
const IN = /^in (.+?), #(\/\S*|): /;

/** The text of a problem, to be printed after its location. */
export const withoutLocation = (problem: string) => problem.replace(AT, '').replace(IN, '');

/** Builds a function that finds the location of a problem, such as `openapi/books.yaml:25:7`. `name` is the printed name of the file. */
export async function buildLocationOf(file: string, name = file): Promise<(problem: string) => string> {
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
  return (problem) => {
    const [, where, line, column] = AT.exec(problem) ?? [];
    if (line) return `${where ? nameOf(where) : name}:${line}:${column}`;
    const [, part, pointer] = IN.exec(problem) ?? [];
    if (part) return `${nameOf(part)}:${positionOf(join(dirname(file), part), toKeys(pointer as string))}`;
    const whole = textOf(undefined);
    const offset = findOffset(whole, problem);
    if (!bundle) return `${name}:${whole.toPosition(offset)}`;
    const origin = bundle.originOf(whole.keysAt(offset));
    return `${nameOf(relative(dirname(resolve(file)), origin.file))}:${positionOf(origin.file, origin.keys)}`;
  };
}

const toKeys = (pointer: string) => pointer.split('/').slice(1).map(fromPointerToken);

/** Returns the problems, each after its location. Reports a mistake that several operations share only once. */
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

/** The line of a problem without the operation, and without its part, at the start of the text. */
function withoutOperation(line: string): string {
  const [location] = line.split(' operation ', 1);
  const mistake = behind(line, ' operation ')
    .replace(/^\S+ /, '')
    .replace(/^response \w+: /, '');
  return `${location} ${mistake.replace(/^(?:parameter [^\s:]+|(?:its |request\.)?body[^\s:]*|request\.\w+\.[^\s:]+): /, '')}`;
}

/** Adds the locations in the files to a `ContractError`. Returns any other error unchanged. */
export async function withLocations(error: unknown, file: URL): Promise<unknown> {
  if (!(error instanceof ContractError)) return error;
  return new ContractError(await toLocated(error.problems, relative(process.cwd(), fileURLToPath(file))));
}

/** The text after the words; empty if the text does not contain them. */
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

/** The prefixes of a problem, such as `response 404: header Link …`, and the keys to the part that each one names. */
const PROBLEM_PREFIXES: [words: RegExp, keys: (name: string) => string[]][] = [
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

/** The number of characters before the location of a problem; 0 if it is not about a part of the text. */
function findOffset(yaml: YamlText, problem: string): number {
  const [, pointer] = /^#?(\/\S*?):?\s/.exec(problem) ?? [];
  if (pointer) return yaml.reach(toKeys(pointer)).offset;
  const text = textIn(problem);
  const known = text === undefined ? undefined : yaml.offsetOf(text);
  if (known !== undefined) return known;
  const [, id = '', words = problem] = /^operation (\S+): (.*)$/s.exec(problem) ?? [];
  return findLocation(yaml, (id && yaml.keysOf(id)) || [], words).offset;
}

/** The location that the words of a problem name, inside the operation at these keys. */
function findLocation(yaml: YamlText, keys: string[], words: string, from = yaml.reach(keys)): SourceLocation {
  const [start, toKeys] = PROBLEM_PREFIXES.find(([start]) => start.test(words)) ?? [];
  // The first word of a fault may be the faulty keyword.
  if (!start || !toKeys) return from.left > 0 ? from : yaml.reach([/^[\w$-]*/.exec(words)?.[0] as string], from);
  const [said, name] = start.exec(words) as unknown as [string, string];
  const whole = toKeys(name);
  // A parameter may belong to the path item. The body of a response is in the response itself.
  const item = yaml.reach(keys.slice(0, 2));
  const found = [yaml.reach(whole, from), yaml.reach(whole, item), yaml.reach(whole.slice(1), from)];
  const [next] = found.sort((one, other) => one.left - other.left);
  return findLocation(yaml, keys, words.slice(said.length), next);
}
