/**
 * A variant of better-sqlite3 that prevents the garbage collection of its objects. If version 12 was compiled with the
 * headers of Node 24.19 or newer, the process aborts when such an object is collected. Remove this file when Node 20 is
 * no longer supported: then version 13 can be used.
 */
import Better, { type Options, type Statement } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';

/**
 * The connections and statements of this thread, which take a few KB each. A server opens one connection in the event
 * loop, and one in its writing thread. The writing thread opens its connection again after some failed writes.
 */
const KEPT: object[] = [];

/**
 * Whether the garbage collection of an object of better-sqlite3 may abort the process. On Node 20 and 22 it does not.
 */
const isAffected = (node = process.versions.node) => Number.parseInt(node, 10) >= 24;

/**
 * Returns the object unchanged. If its garbage collection could abort the process, the object is kept until the thread
 * ends.
 */
export function preventGc<Kept extends object>(made: Kept, node?: string): Kept {
  if (isAffected(node)) KEPT.push(made);
  return made;
}

interface Statements {
  get(sql: string): Statement<unknown[], unknown[]> | undefined;
  set(sql: string, statement: Statement<unknown[], unknown[]>): unknown;
}

/**
 * Builds a cache of prepared statements. The cache is unlimited if garbage collection could abort the process: an
 * evicted statement would still occupy memory, and would have to be prepared again.
 */
export const buildStatements = (most: number, node?: string): Statements =>
  isAffected(node) ? new Map() : new LRUCache({ max: most });

/**
 * A connection that prevents the garbage collection of itself and its statements. Call `preventGc` for iterators
 * yourself.
 */
export class Sqlite extends Better {
  #pragmas = new Map<string, Statement<[]>>();

  constructor(file: string, options?: Options) {
    super(file, options);
    preventGc(this);
  }

  /** @internal Keeps this method out of the package's types: the types of better-sqlite3 already declare `prepare`. */
  override prepare<Parameters extends unknown[] | object = unknown[], Result = unknown>(source: string) {
    return preventGc(super.prepare<Parameters, Result>(source));
  }

  /** Runs a pragma. Every pragma is prepared only once. */
  override pragma(source: string, { simple = false } = {}): unknown {
    const statement = this.#pragmas.get(source) ?? this.prepare<[], unknown>(`PRAGMA ${source}`);
    this.#pragmas.set(source, statement);
    if (statement.reader) return simple ? statement.pluck().get() : statement.pluck(false).all();
    statement.run();
    return [];
  }
}
