/**
 * Finds the operations of resources by their paths: `…/books` with `…/books/{bookId}`, and common other forms of such
 * paths.
 */
import type { Operation } from '../../engine/contract/contract.ts';
import { namesIn, PATH_PARAMETER } from '../../engine/contract/path-names.ts';
import { toSingular, wordsOf } from './envelopes.ts';

export type OperationKind = 'create' | 'get' | 'list' | 'update' | 'replace' | 'delete';

export interface FoundOperation {
  kind: OperationKind;
  operation: Operation;
  /**
   * True if the path and the method do not show the purpose of the operation. The handler is written only if the body
   * and the reply of the operation show the record.
   */
  isUnusual: boolean;
}

export interface ResourcePaths {
  /** The segment of the path that names the records, such as `books`. */
  segment: string;
  /** The path of a record. Empty if there is only a list and a create. */
  path: string;
  /** The path of the create or the list, which may contain ids of other records that own these records. */
  base: string;
  /**
   * True if the path leads to a single object, such as `/settings` or `/users/{id}/profile`. A PUT then creates the
   * object.
   */
  isSingle?: true;
  found: FoundOperation[];
}

type Shapes = ReadonlyMap<string, Operation[]>;

/**
 * Returns a path without the names of its parameters, and without a slash at its end. Two paths with the same shape are
 * the same path for clients.
 */
export const toShape = (path: string): string => path.replace(PATH_PARAMETER, '{}').replace(/(?<=.)\/$/, '');

/**
 * Returns the names of the ids in the path of an operation. `own` is that of the record, and undefined if the path does
 * not lead to a record. `owners` contains all others.
 */
export function idsIn(operation: Operation, { path }: { path: string }): { owners: string[]; own: string | undefined } {
  const owners = namesIn(operation.path);
  const own = toShape(operation.path) === toShape(path) ? owners.pop() : undefined;
  return { owners, own };
}

/** Matches the shape of a path that leads to a record, such as `/books/{}`. */
const ITEM = /\/[^/{}]+\/\{\}$/;

const OF_ITEM: Record<string, OperationKind> = { GET: 'get', PATCH: 'update', PUT: 'replace', DELETE: 'delete' };
const OF_BASE: Record<string, OperationKind> = { GET: 'list', POST: 'create', PUT: 'replace' };

/** Finds the operations of each resource. A resource comes before the resources below the path of its records. */
export function findResourcePaths(all: Operation[]): ResourcePaths[] {
  const shapes = new Map<string, Operation[]>();
  for (const operation of all) {
    const shape = toShape(operation.path);
    shapes.set(shape, [...(shapes.get(shape) ?? []), operation]);
  }
  const items = [...shapes.keys()].filter((shape) => ITEM.test(shape));
  const depthOf = (shape: string) => namesIn(shape).length * all.length + shape.split('/').length;
  const found = items.sort((a, b) => depthOf(a) - depthOf(b)).map((item) => toPaths(item, shapes));
  const taken = new Set(found.flatMap((one) => one.found.map(({ operation }) => operation)));
  return [...found, ...[...shapes].flatMap(([shape, at]) => toOtherPaths(shape, at, taken))];
}

/**
 * Finds operations at a path without a path of a record below it: the operations of a list with a create, or those of a
 * single object. The reply to the GET later decides which of the two they are.
 */
function toOtherPaths(shape: string, at: Operation[], taken: ReadonlySet<Operation>): ResourcePaths[] {
  const [, segment] = split(shape);
  const found = pick(at, { ...OF_SINGLE, POST: 'create' });
  const isWhole = ['get', 'create'].every((wanted) => found.some(({ kind }) => kind === wanted));
  const isFree = /^[^{}]+$/.test(segment) && !at.some((one) => taken.has(one));
  return isWhole && isFree ? [{ segment, path: (at[0] as Operation).path, base: '', found, isSingle: true }] : [];
}

const OF_SINGLE: Record<string, OperationKind> = { GET: 'get', PUT: 'create', PATCH: 'update', DELETE: 'delete' };

/** Converts the paths of a single object to those of a list and a create. Called if the reply to the GET is a list. */
export function toListPaths({ segment, path, found }: ResourcePaths): ResourcePaths {
  const own = found.map(({ operation }) => operation);
  return { segment, path: '', base: path, found: pick(own, { GET: 'list', POST: 'create' }) };
}

/** Returns the paths of a single object. The PUT creates the object, or the POST if the path lacks a PUT. */
export function toSinglePaths({ found, ...paths }: ResourcePaths): ResourcePaths {
  const posts = found.filter(({ operation }) => operation.method === 'POST');
  const others = found.filter((one) => !posts.includes(one));
  const hasPut = others.some(({ kind }) => kind === 'create');
  return { ...paths, found: [...others, ...(hasPut ? [] : posts.map((one) => ({ ...one, isUnusual: true })))] };
}

function toPaths(item: string, shapes: Shapes): ResourcePaths {
  const at = shapes.get(item) as [Operation, ...Operation[]];
  const base = item.slice(0, -'/{}'.length);
  const found = [
    ...pick(at, OF_ITEM),
    ...pick(
      at.filter(({ body }) => body),
      { POST: 'update' },
      true,
    ),
    ...pick(shapes.get(base) ?? [], OF_BASE),
  ];
  for (const [method, kind] of [
    ['POST', 'create'],
    ['GET', 'list'],
  ] as const)
    if (!found.some((one) => one.kind === kind)) found.push(...findElsewhere(base, shapes, method, kind));
  const [first] = ['create', 'list'].flatMap((kind) => found.filter((one) => one.kind === kind));
  const { path } = at[0];
  const [, segment] = split(base);
  return { segment, path, base: first?.operation.path ?? path.slice(0, path.lastIndexOf('/')), found };
}

function pick(operations: Operation[], kinds: Record<string, OperationKind>, isUnusual = false): FoundOperation[] {
  return operations.flatMap((operation) => {
    const kind = kinds[operation.method];
    return kind ? [{ kind, operation, isUnusual }] : [];
  });
}

const VERBS = { create: /^(create|add|new)$/, list: /^(list|all)$/ };

/**
 * Finds the operation that creates or lists the records of a resource at a path other than the path of the resource.
 * Returns an empty list if there are several such paths.
 */
function findElsewhere(base: string, shapes: Shapes, method: string, kind: 'create' | 'list'): FoundOperation[] {
  const [before, last] = split(base);
  const isTwin = (name: string) => name !== last && toSingular(wordsOf(name)) === toSingular(wordsOf(last));
  const ways: ((shape: string, start: string, end: string) => boolean)[] = [
    (_shape, start, end) => start === base && VERBS[kind].test(end),
    (shape, start, end) => start === before && isTwin(end) && !shapes.has(`${shape}/{}`),
    (shape, start, end) => end === last && isOwner(start, before) && !shapes.has(`${shape}/{}`),
  ];
  for (const isThere of ways) {
    const operations = [...shapes].flatMap(([shape, some]) => (isThere(shape, ...split(shape)) ? some : []));
    const found = pick(operations, { [method]: kind }, true);
    if (found.length > 0) return found.length === 1 ? found : [];
  }
  return [];
}

const split = (shape: string): [start: string, end: string] => {
  const at = shape.lastIndexOf('/');
  return [shape.slice(0, at), shape.slice(at + 1)];
};

/**
 * True if a path leads to an owner of records that also exist at a separate path, such as `/maps/{}` for
 * `/maps/{}/spots` and `/spots/{}`.
 */
const isOwner = (path: string, before: string): boolean =>
  path.startsWith(before) && /^(\/[^/{}]+)?\/\{\}$/.test(path.slice(before.length));
