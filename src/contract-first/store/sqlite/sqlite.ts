/**
 * better-sqlite3 whose objects are never garbage collected: version 12, compiled with the headers of Node 24.19 or newer, aborts the
 * process when one is. To be removed with the support of Node 20, which allows version 13.
 */
import Better, { type Options, type Statement } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';

/**
 * Holds the connections and statements of this thread, a few KB each. A server has one connection, and one in its writing thread, which
 * is opened again after some failed writes.
 */
const KEPT: object[] = [];

/** Whether this version of Node is affected; Node 20 and 22 are not. */
const isAffected = (node = process.versions.node) => Number.parseInt(node, 10) >= 24;

/** Keeps an object as long as the thread lives, if this version of Node needs it. */
export function preventGc<Kept extends object>(made: Kept, node?: string): Kept {
  if (isAffected(node)) KEPT.push(made);
  return made;
}

interface Statements {
  get(sql: string): Statement<unknown[], unknown[]> | undefined;
  set(sql: string, statement: Statement<unknown[], unknown[]>): unknown;
}

/** A cache of statements. On an affected Node it has no limit: an evicted statement would only be prepared, and stay, again. */
export const buildStatements = (most: number, node?: string): Statements =>
  isAffected(node) ? new Map() : new LRUCache({ max: most });

/** Keeps its handle and its statements; for iterators, call `preventGc`. */
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
