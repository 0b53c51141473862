/**
 * A variant of better-sqlite3 that keeps its objects from garbage collection. Version 12, compiled with the headers of Node 24.19 or newer,
 * aborts the process if such an object is collected. Remove this file together with the support of Node 20: then version 13 can be used.
 */
import Better, { type Options, type Statement } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';

/**
 * The connections and statements of this thread, a few KB each. A server opens one connection in the event loop and one in its writing
 * thread. The latter is opened again after some failed writes.
 */
const KEPT: object[] = [];

/** Whether this version of Node is affected; Node 20 and 22 are not. */
const isAffected = (node = process.versions.node) => Number.parseInt(node, 10) >= 24;

/** Keeps an object until the thread ends, if this version of Node is affected. */
export function preventGc<Kept extends object>(made: Kept, node?: string): Kept {
  if (isAffected(node)) KEPT.push(made);
  return made;
}

interface Statements {
  get(sql: string): Statement<unknown[], unknown[]> | undefined;
  set(sql: string, statement: Statement<unknown[], unknown[]>): unknown;
}

/** Builds a cache of statements. On an affected Node it is unlimited: evicted statements would still use memory, and be prepared again. */
export const buildStatements = (most: number, node?: string): Statements =>
  isAffected(node) ? new Map() : new LRUCache({ max: most });

/** A connection that keeps its handle and its statements from garbage collection. For iterators, call `preventGc`. */
export class Sqlite extends Better {
  #pragmas = new Map<string, Statement<[]>>();

  constructor(file: string, options?: Options) {
    super(file, options);
    preventGc(this);
  }

  /** @internal Its declaration is that of better-sqlite3. */
  override prepare<Parameters extends unknown[] | object = unknown[], Result = unknown>(source: string) {
    return preventGc(super.prepare<Parameters, Result>(source));
  }

  /** Prepares each pragma only once. */
  override pragma(source: string, { simple = false } = {}): unknown {
    const statement = this.#pragmas.get(source) ?? this.prepare<[], unknown>(`PRAGMA ${source}`);
    this.#pragmas.set(source, statement);
    if (statement.reader) return simple ? statement.pluck().get() : statement.pluck(false).all();
    statement.run();
    return [];
  }
}
