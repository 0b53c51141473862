/**
 * Writes the next migration after a description has changed, and runs it on both databases with records in their
 * tables.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { writeNext } from '../../../src/contract-first/cli/migration/migration.ts';
import type { Answers } from '../../../src/contract-first/cli/migration/next-migration.ts';
import type { AnyCollection } from '../../../src/contract-first/store/collection.ts';
import type { AnyDescription, AnyDomain } from '../../../src/contract-first/store/tables/description.ts';
import { type Open, onBoth } from '../../orders/shops.ts';

const NONE: Answers = { drop: new Set(), rename: new Map() };
const FIRST = {
  id: { type: 'int64', set: 'id' },
  name: { type: 'text' },
  note: { type: 'text', isOptional: true },
  colour: { type: 'text', isOptional: true },
} as const;

function buildDomain(t: Test) {
  const migrations = pathToFileURL(`${t.testdir()}/`);
  return (columns: AnyDescription['columns'], more: Partial<AnyDescription> = {}): AnyDomain => ({
    things: { noun: 'thing', table: 'things', errors: {}, columns, migrations, ...more },
  });
}

function testNext(t: Test, prepare: (t: Test) => Open): void {
  t.test('a generated migration adds, renames and drops fields and indexes, and keeps each record', async (t) => {
    const toDomain = buildDomain(t);
    const open = prepare(t);
    const openThings = async (domain: AnyDomain) => {
      const warnings: string[] = [];
      const { store } = await open(domain, {}, { onWarning: (warning) => warnings.push(warning) });
      t.strictSame(warnings, []);
      return (store.collections as Record<'things', AnyCollection>).things;
    };
    const first = toDomain(FIRST, { lists: { equal: ['note', 'colour'] } });
    t.match(writeNext(first, 'first', NONE), { files: [/sqlite\/0001-first.sql$/, /postgres\/0001-first.sql$/] });
    t.strictSame(writeNext(first, 'again', NONE), { files: [] });
    const things = await openThings(first);
    await things.create({ name: 'a', note: 'b', colour: 'red' });

    const { note: _note, colour: _colour, ...kept } = FIRST;
    const columns = {
      ...kept,
      remark: { type: 'text', isOptional: true },
      kind: { type: 'text', first: "it's" },
      pieces: { type: 'int32', first: 3 },
      revision: { type: 'int64', set: 'revision' },
      at: { type: 'time', isOptional: true },
    } as const;
    const second = toDomain(columns, { lists: { equal: ['kind'], orders: { both: ['-pieces', 'at'] } } });
    t.match(writeNext(second, 'second', NONE), {
      questions: [/^no field has the column things.note: --drop things.note, or/, /things.colour/],
    });
    const answers = { drop: new Set(['things.colour']), rename: new Map([['things.note', 'remark']]) };
    t.match(writeNext(second, 'second', answers), { files: [/sqlite\/0002-second.sql$/, /postgres\/0002/] });
    t.strictSame(writeNext(second, 'again', NONE), { files: [] });
    const now = await openThings(second);
    t.match(await now.read(1n), { id: 1n, name: 'a', remark: 'b', kind: "it's", pieces: 3 });
    t.match(await now.create({ name: 'c' }), { id: 2n, kind: "it's", pieces: 3, revision: 1n });
  });
}

onBoth(t, testNext, {});

t.test('if a change of domain.ts could lose data, `migration` asks first and writes no file', (t) => {
  const toDomain = buildDomain(t);
  const first = toDomain(FIRST, { unique: [{ fields: ['colour'], code: 'taken' }] });
  writeNext(first, 'first', NONE);
  const { note: _note, ...others } = FIRST;
  const ask = (columns: AnyDescription['columns'], answers = NONE) => {
    const { questions } = writeNext(toDomain(columns), 'second', answers) as { questions: string[] };
    return questions;
  };
  t.match(ask({ ...FIRST, size: { type: 'text' } }), [/^things.size has no value for the records that are there/]);
  t.match(ask(others), [/^no field has the column things.note/]);
  const file = new URL('sqlite/0001-first.sql', first.things?.migrations);
  writeFileSync(file, `${readFileSync(file, 'utf8')}INSERT INTO things (name) VALUES ('a'), ('a');`);
  t.throws(() => writeNext(toDomain(FIRST, { unique: [{ fields: ['name'], code: 'taken' }] }), 'second', NONE), {
    message: 'Nothing was written: things/0002-second.sql: UNIQUE constraint failed: things.name',
  });
  t.notOk(existsSync(new URL('sqlite/0002-second.sql', first.things?.migrations)));
  t.end();
});
