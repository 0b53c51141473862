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
  /** The name of the records' schema, in the form that a description uses: `Book` or `getBook().data`. */
  record: string;
  schema: Schema;
  /** The path of a record. Empty if there is only a list and a create. */
  path: string;
  /** The path of the create, which may contain ids of other records that own these records. */
  base: string;
  /**
   * The parent resource that the path of the records identifies, such as the articles in
   * `/articles/{slug}/comments/{id}`.
   */
  parent?: ParentInPath;
  /** The other path parameters before the record's own id. */
  scopes: string[];
  operations: Map<OperationKind, Operation>;
  /** The operations with a purpose that their paths and methods do not show. */
  unusual: Set<Operation>;
  /**
   * True if the path leads to a single object. The id of the object is the id in the path, or a constant if there is
   * none.
   */
  isSingle?: true;
  /** True if a PUT to the path of a record creates it. */
  isPut?: true;
}

export interface ParentInPath {
  /** The name of the parent's collection. */
  name: string;
  /** The name of the path parameter with the parent's id. */
  parameter: string;
}

/**
 * The resources of a contract. `reasons` contains a reason for each operation that is not part of a resource, by
 * operationId.
 */
export interface Recognised {
  resources: Resource[];
  reasons: Map<string, string>;
}

export const toCamel = (words: string[]): string =>
  words.map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join('');

/**
 * Matches names that a collection must not have: properties of a handler's argument, and reserved words of the
 * language.
 */
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

/**
 * Decides by the reply to the GET whether a path leads to a single object or to a list. Returns all other paths
 * unchanged.
 */
function toShown(paths: ResourcePaths, source: DocumentSource): ResourcePaths[] {
  if (!paths.isSingle) return [paths];
  const [get] = paths.found.filter(({ kind }) => kind === 'get') as [FoundOperation];
  const envelope = envelopeOf(get.operation, toWords(paths), source);
  if (!envelope || envelope.isList) return [toListPaths(paths)].filter(({ found }) => found.length === 2);
  return namesIn(paths.path).length <= 1 ? [toSinglePaths(paths)] : [];
}

/** Derives the names of the records from the paths. */
function toWords({ segment, path }: ResourcePaths): RecordWords {
  const words = wordsOf(segment);
  return { name: toCamel(words), noun: toSingular(words), parameter: namesIn(path).at(-1) ?? '' };
}

/** Matches a name that a collection, its variable and its folder can have. */
const NAME = /^[a-z][A-Za-z0-9]*$/;

/**
 * Returns longer names for a collection, with one more segment of the path, two more, and so on: `meDevices` and
 * `v2MeDevices` for `/v2/me/devices/{id}`.
 */
function toLongNames(path: string): string[] {
  const words = path.split('/').filter((one) => one !== '' && !one.includes('{'));
  return words.slice(1).map((_, index) => toCamel(words.slice(-2 - index).flatMap(wordsOf)));
}

interface Recognising {
  /** The resources that were recognised before this one. */
  known: Resource[];
  source: DocumentSource;
  reasons: Map<string, string>;
}

/** The record is searched for in the replies of these operations, in this order. */
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
  // Prefers a reply with the id, because the reply to a create may show only some fields of the record.
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

/**
 * Finds the parent of the records at `base`, if it is among the known resources. `scopes` contains the other path
 * parameters.
 */
function toParent(base: string, known: Resource[]): Pick<Resource, 'parent' | 'scopes'> {
  const scopes = namesIn(base);
  const path = base.slice(0, base.lastIndexOf('}') + 1);
  const found = known.find((one) => one.path !== '' && toShape(one.path) === toShape(path));
  return found ? { parent: { name: found.name, parameter: scopes.pop() as string }, scopes } : { scopes };
}
