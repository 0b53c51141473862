/** Runs what asks for statements, on one connection. */
import type { Database, Statement } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import type { Ask, Asking } from '../asking.ts';
import type { ChangeDialect } from '../changes.ts';
import { toBound } from './insert.ts';
import { toJsonSql } from './record-json.ts';

export const DIALECT: ChangeDialect = { place: () => '?', toValue: toBound, nameOf: ({ name }) => name, toJsonSql };

/** How many statements are kept. */
const STATEMENTS = 200;

export class Driver {
  readonly #db: Database;
  readonly #statements = new LRUCache<string, Statement<unknown[], unknown[]>>({ max: STATEMENTS });

  constructor(db: Database) {
    this.#db = db;
  }

  /** It is told where a statement fails. */
  drive<Result>(asking: Asking<Result>): Result {
    let step = asking.next();
    while (!step.done) {
      let rows: unknown[][];
      try {
        rows = this.query(step.value);
      } catch (error) {
        step = asking.throw(error);
        continue;
      }
      step = asking.next(rows);
    }
    return step.value;
  }

  query({ sql, values }: Ask): unknown[][] {
    const statement = this.#statements.get(sql) ?? this.#db.prepare<unknown[], unknown[]>(sql);
    this.#statements.set(sql, statement);
    if (statement.reader) return statement.raw().all(...values);
    statement.run(...values);
    return [];
  }
}
