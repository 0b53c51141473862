/** Recognises the resources of a contract: their operations, and the schema of their records. */
import { type DocumentSource, toSource } from '../../contract/page/source.ts';
import type { Operation, ReadContract } from '../../engine/contract/contract.ts';
import { namesIn } from '../../engine/contract/path-names.ts';
import type { Schema } from '../../engine/schema/json.ts';
import { type Envelope, envelopeOf, idNameOf, type RecordWords, toSingular, wordsOf } from './envelopes.ts';
import {
  type FoundOperation,
  findResourcePaths,
  type OperationKind,
  type ResourcePaths,
  toListPaths,
  toShape,
  toSinglePaths,
} from './resource-paths.ts';

export interface Resource extends RecordWords {
  /** The schema of the records, as the description names it: `Book` or `getBook().data`. */
  record: string;
  schema: Schema;
  /** The path of a record; empty if there is only a list and a create. */
  path: string;
  /** The path of the create, with the ids of the records' owners. */
  base: string;
  /** The parent resource in the records' path, such as the articles in `/articles/{slug}/comments/{id}`. */
  parent?: ParentInPath;
  /** The other parameters in its path, before its own. */
  scopes: string[];
  operations: Map<OperationKind, Operation>;
  /** The operations whose paths and methods alone do not tell what they do. */
  unusual: Set<Operation>;
  /** Whether the path leads to a single object. Its id is the one in the path, if there is one. */
  isSingle?: true;
  /** Whether the create is a PUT to the path of a record. */
  isPut?: true;
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

/** Matches names that a handler's argument already uses, and reserved words of the language. */
const TAKEN =
  /^(params|query|headers|body|content|services|caller|log|request|reply|accepts|idempotency|accept|default|delete|new|in|for|if|do|let|var|enum|class|case|void|this|with|try|import|export|function|return|switch|while|yield|await|static|public|package|private|interface|handle|refuse)$/;

export function recognise(contract: ReadContract): Recognised {
  const source = toSource(contract);
  const reasons = new Map<string, string>();
  const resources: Resource[] = [];
  const operations = [...contract.operations.values()];
  for (const operation of operations) reasons.set(operation.id, 'no resource is at its path');
  for (const paths of findResourcePaths(operations).flatMap((one) => toShown(one, source))) {
    const made = toResource(paths, { known: resources, source, reasons });
    if (!made) continue;
    const isFree = (one: string) => NAME.test(one) && !resources.some((other) => other.name === one);
    const name = [made.name, ...toLongNames(paths.path || paths.base)].find(isFree);
    if (name === undefined)
      for (const { operation } of paths.found) reasons.set(operation.id, `another resource is named ${made.name}`);
    else {
      made.name = name;
      resources.push(made);
      for (const { id } of made.operations.values()) reasons.delete(id);
    }
  }
  return { resources, reasons };
}

/** Returns the paths as they are, or those of a list or of a single object, by the reply to the GET. */
function toShown(paths: ResourcePaths, source: DocumentSource): ResourcePaths[] {
  if (!paths.isSingle) return [paths];
  const [get] = paths.found.filter(({ kind }) => kind === 'get') as [FoundOperation];
  const envelope = envelopeOf(get.operation, toWords(paths), source);
  if (!envelope || envelope.isList) return [toListPaths(paths)].filter(({ found }) => found.length === 2);
  return namesIn(paths.path).length <= 1 ? [toSinglePaths(paths)] : [];
}

/** The words for the records, by the paths. */
function toWords({ segment, path }: ResourcePaths): RecordWords {
  const words = wordsOf(segment);
  return { name: toCamel(words), noun: toSingular(words), parameter: namesIn(path).at(-1) ?? '' };
}

/** The name of a collection, which is also the name of a variable and of a folder. */
const NAME = /^[a-z][A-Za-z0-9]*$/;

/** Names with one segment before, with two, and so on: `meDevices` and `v2MeDevices` of `/v2/me/devices/{id}`. */
function toLongNames(path: string): string[] {
  const words = path.split('/').filter((one) => one !== '' && !one.includes('{'));
  return words.slice(1).map((_, index) => toCamel(words.slice(-2 - index).flatMap(wordsOf)));
}

interface Recognising {
  /** The resources that were recognised before. */
  known: Resource[];
  source: DocumentSource;
  reasons: Map<string, string>;
}

/** The order of the replies to find the record in. */
const ORDER: OperationKind[] = ['get', 'list', 'create', 'update', 'replace'];

function toResource(paths: ResourcePaths, { known, source, reasons }: Recognising): Resource | undefined {
  const { path, base, found, isSingle } = paths;
  const skipAll = (reason: string) => {
    for (const { operation } of found) reasons.set(operation.id, reason);
    return undefined;
  };
  const operations = new Map<OperationKind, Operation>();
  for (const { kind, operation } of found)
    if (operations.has(kind)) reasons.set(operation.id, 'another operation does the same');
    else operations.set(kind, operation);
  const own = toWords(paths);
  const { name } = own;
  if (!NAME.test(name)) return skipAll('its path gives no name for a collection');
  const envelopes = ORDER.flatMap((kind) => {
    const operation = operations.get(kind);
    return (operation && envelopeOf(operation, own, source)) ?? [];
  }).filter(({ record }) => record !== undefined);
  // A reply to a create may show only a part.
  const hasId = ({ schema }: Envelope) => idNameOf(own, source.flat(schema).properties ?? {}) !== undefined;
  const envelope = envelopes.find(hasId) ?? envelopes[0];
  if (envelope?.record === undefined) return skipAll('no reply has a record that can be stored');
  const { record, schema } = envelope;
  const unusual = new Set(found.flatMap(({ isUnusual, operation }) => (isUnusual ? [operation] : [])));
  const named = TAKEN.test(name) ? `${name}Records` : name;
  return {
    ...own,
    ...(isSingle ? { ...toParent(path, known), scopes: [], isSingle, isPut: true } : toParent(base, known)),
    name: named,
    record,
    schema,
    path,
    base,
    operations,
    unusual,
  };
}

/** The parent in the path of a list, if it is known, and the other parameters. */
function toParent(base: string, known: Resource[]): Pick<Resource, 'parent' | 'scopes'> {
  const scopes = namesIn(base);
  const path = base.slice(0, base.lastIndexOf('}') + 1);
  const found = known.find((one) => one.path !== '' && toShape(one.path) === toShape(path));
  return found ? { parent: { name: found.name, parameter: scopes.pop() as string }, scopes } : { scopes };
}
