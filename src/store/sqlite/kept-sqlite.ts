/**
 * better-sqlite3, of which nothing is ever collected as garbage. Compiled with the headers of Node 24.19 or newer, its version 12 aborts
 * the process when that happens. To be removed with Node 20, whose end lets us take version 13.
 */
import Better, { type Options, type Statement } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';

/**
 * A few KB for each connection of this thread, and for each statement. A server opens one connection, and one more in its writing
 * thread, which is opened again when a write has failed in a way that another connection may not.
 */
const KEPT: object[] = [];

/** Node 20 and 22 collect it safely. */
const isKeeping = (node = process.versions.node) => Number.parseInt(node, 10) >= 24;

/** Keeps it for as long as the thread lives, where that is needed. */
export function keep<Kept extends object>(made: Kept, node?: string): Kept {
  if (isKeeping(node)) KEPT.push(made);
  return made;
}

export interface Statements {
  get(sql: string): Statement<unknown[], unknown[]> | undefined;
  set(sql: string, statement: Statement<unknown[], unknown[]>): unknown;
}

/** The latest ones; all of them where they are kept in any case, for one that is dropped would be prepared, and kept, again. */
export const buildStatements = (most: number, node?: string): Statements =>
  isKeeping(node) ? new Map() : new LRUCache({ max: most });

/** Its statements and its own handle are kept. Iterators and backups are not: see `keep`. */
export class Sqlite extends Better {
  #pragmas = new Map<string, Statement<[]>>();

  constructor(file: string, options?: Options) {
    super(file, options);
    keep(this);
  }

  override prepare<Parameters extends unknown[] | object = unknown[], Result = unknown>(source: string) {
    return keep(super.prepare<Parameters, Result>(source));
  }

  /** With one statement for each text, however often it is asked. */
  override pragma(source: string, { simple = false } = {}): unknown {
    const statement = this.#pragmas.get(source) ?? this.prepare<[], unknown>(`PRAGMA ${source}`);
    this.#pragmas.set(source, statement);
    if (statement.reader) return simple ? statement.pluck().get() : statement.pluck(false).all();
    statement.run();
    return [];
  }
}
