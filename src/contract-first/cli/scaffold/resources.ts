/** Recognises resources in a contract: `…/books` with `…/books/{bookId}`, and the schema of their records. */
import { type DocumentSource, toSource } from '../../contract/page/source.ts';
import type { Operation, ReadContract } from '../../engine/contract/contract.ts';
import { namesIn, PATH_PARAMETER } from '../../engine/contract/path-names.ts';
import type { Schema } from '../../engine/schema/json.ts';
import { type Envelope, envelopeOf, idNameOf, type RecordWords, wordsOf } from './envelopes.ts';

export type OperationKind = 'create' | 'get' | 'list' | 'update' | 'replace' | 'delete';

export interface Resource extends RecordWords {
  /** The schema of the records, as the description names it: `Book` or `getBook().data`. */
  record: string;
  schema: Schema;
  /** The path of a record. */
  path: string;
  /** The parent resource in the records' path, such as the articles in `/articles/{slug}/comments/{id}`. */
  parent?: ParentInPath;
  /** The other parameters in its path, before its own. */
  scopes: string[];
  operations: Map<OperationKind, Operation>;
}

export interface ParentInPath {
  /** The name of the parent's collection. */
  name: string;
  /** The parameter with the parent's id. */
  parameter: string;
}

/** A reason for each operation that is not part of a resource, by operationId. */
export interface Recognised {
  resources: Resource[];
  reasons: Map<string, string>;
}

export const toCamel = (words: string[]): string =>
  words.map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join('');

const toSingular = (words: string[]): string =>
  words
    .join(' ')
    .replace(/ies$/, 'y')
    .replace(/(?<=ss|sh|ch|x)es$/, '')
    .replace(/(?<!s)s$/, '');

/** Matches names that a handler's argument already uses, and reserved words of the language. */
const TAKEN =
  /^(params|query|headers|body|content|services|caller|log|request|reply|accepts|idempotency|accept|default|delete|new|in|for|if|do|let|var|enum|class|case|void|this|with|try|import|export|function|return|switch|while|yield|await|static|public|package|private|interface|handle|refuse)$/;

export function recognise(contract: ReadContract): Recognised {
  const source = toSource(contract);
  const reasons = new Map<string, string>();
  const resources: Resource[] = [];
  const operations = [...contract.operations.values()];
  for (const operation of operations) reasons.set(operation.id, 'no resource is at its path');
  const paths = [...new Set(operations.map(({ path }) => path))];
  // Parents come before the resources below their paths.
  const items = paths.filter((one) => /\/[^/{}]+\/\{[^{}/]+\}$/.test(one));
  const lengthOf = (path: string) => namesIn(path).length * paths.length + path.split('/').length;
  for (const path of items.sort((a, b) => lengthOf(a) - lengthOf(b))) {
    const made = toResource(path, { all: operations, known: resources, source, reasons });
    if (!made) continue;
    const isFree = (one: string) => NAME.test(one) && !resources.some((other) => other.name === one);
    const name = [made.name, ...toLongNames(path)].find(isFree);
    if (name === undefined)
      for (const { id } of made.operations.values()) reasons.set(id, `another resource is named ${made.name}`);
    else {
      made.name = name;
      resources.push(made);
      for (const { id } of made.operations.values()) reasons.delete(id);
    }
  }
  return { resources, reasons };
}

/** The name of a collection, which is also the name of a variable and of a folder. */
const NAME = /^[a-z][A-Za-z0-9]*$/;

/** Names with one segment before, with two, and so on: `meDevices` and `v2MeDevices` of `/v2/me/devices/{id}`. */
function toLongNames(path: string): string[] {
  const words = path.split('/').filter((one) => one !== '' && !one.includes('{'));
  return words.slice(1).map((_, index) => toCamel(words.slice(-2 - index).flatMap(wordsOf)));
}

interface Recognising {
  all: Operation[];
  /** The resources that were recognised before. */
  known: Resource[];
  source: DocumentSource;
  reasons: Map<string, string>;
}

function toResource(path: string, { all, known, source, reasons }: Recognising): Resource | undefined {
  const base = path.slice(0, path.lastIndexOf('/'));
  const names = namesIn(path);
  const found = new Map<OperationKind, Operation>();
  for (const operation of all) {
    const kind = kindOf(operation, base, path);
    if (kind) found.set(kind, operation);
  }
  const skipAll = (reason: string) => {
    for (const { id } of found.values()) reasons.set(id, reason);
    return undefined;
  };
  const words = wordsOf(base.slice(base.lastIndexOf('/') + 1));
  const name = toCamel(words);
  if (!NAME.test(name)) return skipAll('its path gives no name for a collection');
  const own = { name, noun: toSingular(words), parameter: names.at(-1) as string };
  const order: OperationKind[] = ['get', 'list', 'create', 'update', 'replace'];
  const envelopes = order
    .flatMap((kind) => {
      const operation = found.get(kind);
      return (operation && envelopeOf(operation, own, source)) ?? [];
    })
    .filter(({ record }) => record !== undefined);
  // A reply to a create may show only a part.
  const hasId = ({ schema }: Envelope) => idNameOf(own, source.flat(schema).properties ?? {}) !== undefined;
  const envelope = envelopes.find(hasId) ?? envelopes[0];
  if (envelope?.record === undefined) return skipAll('no reply has a record that can be stored');
  const { record, schema } = envelope;
  const named = TAKEN.test(name) ? `${name}Records` : name;
  return { ...own, ...toParent(base, known), name: named, record, schema, path, operations: found };
}

/** The parent in the path of a list, if it is known, and the other parameters. */
function toParent(base: string, known: Resource[]): Pick<Resource, 'parent' | 'scopes'> {
  const scopes = namesIn(base);
  const path = base.slice(0, base.lastIndexOf('}') + 1);
  const toShape = (one: string) => one.replace(PATH_PARAMETER, '{}');
  const found = known.find((one) => toShape(one.path) === toShape(path));
  return found ? { parent: { name: found.name, parameter: scopes.pop() as string }, scopes } : { scopes };
}

function kindOf({ method, path }: Operation, base: string, item: string): OperationKind | undefined {
  if (path === base) return ({ GET: 'list', POST: 'create', PUT: 'replace' } as Record<string, OperationKind>)[method];
  const kinds = { GET: 'get', PATCH: 'update', PUT: 'replace', DELETE: 'delete' } as Record<string, OperationKind>;
  return path === item ? kinds[method] : undefined;
}
