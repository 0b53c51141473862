/** A place for the store suite: a SQLite file in the test's folder. */
import type { Test } from 'tap';
import { Sqlite } from '../../src/contract-first/store/sqlite/sqlite.ts';
import { openUrl } from '../database.ts';
import type { AnyStore, Place } from '../store-suite.ts';

export function prepareFilePlace(t: Test): Place {
  const file = `${t.testdir()}/pets.db`;
  return {
    open: () => openUrl(`sqlite:${file}`) as unknown as AnyStore,
    execute: (sql) => executeIn(file, sql),
    count: (table) => countIn(file, table),
  };
}

function executeIn(file: string, sql: string): void {
  const db = new Sqlite(file);
  db.exec(sql);
  db.close();
}

function countIn(file: string, table: string): number {
  const db = new Sqlite(file);
  const count = db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() as number;
  db.close();
  return count;
}
