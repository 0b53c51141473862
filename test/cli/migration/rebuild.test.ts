/** Migrations for changes that ALTER TABLE of SQLite does not support, with records in the tables of both databases. */
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { writeNext } from '../../../src/contract-first/cli/migration/migration.ts';
import type { Answers } from '../../../src/contract-first/cli/migration/next-migration.ts';
import type { AnyCollection } from '../../../src/contract-first/store/collection.ts';
import type { AnyDescription, AnyDomain } from '../../../src/contract-first/store/tables/description.ts';
import { type Open, onBoth } from '../../orders/shops.ts';

const NONE: Answers = { drop: new Set(), rename: new Map() };
const ID = { type: 'int64', set: 'id' } as const;
const OWNERS = { id: ID, name: { type: 'text' } } as const;
const PARTS = { id: ID, thingId: { type: 'int64', of: 'things', onDelete: 'delete' } } as const;
const FIRST = {
  id: ID,
  ownerId: { type: 'int64', of: 'owners' },
  name: { type: 'text' },
  size: { type: 'text' },
  note: { type: 'text', isOptional: true },
  colour: { type: 'text', isOptional: true },
  label: { type: 'text', isOptional: true },
} as const;

function buildDomain(t: Test) {
  const folder = pathToFileURL(`${t.testdir()}/`);
  const describe = (table: string, columns: AnyDescription['columns'], more: Partial<AnyDescription> = {}) => ({
    [table]: { noun: 'thing', table, errors: {}, columns, migrations: new URL(`${table}/`, folder), ...more },
  });
  return (columns: AnyDescription['columns'], more: Partial<AnyDescription> = {}): AnyDomain => ({
    ...describe('owners', OWNERS),
    ...describe('things', columns, more),
    ...describe('parts', PARTS),
  });
}

/** SQL that a team has added by hand: checks, indexes, triggers on this and on another table, and a view. */
const BY_HAND = `
CREATE INDEX things_by_hand ON things (label, name);
CREATE INDEX things_by_colour ON things (colour, name);
`;
/** Only for SQLite, because PostgreSQL does not change the type of a column that a view uses. */
const VIEW = 'CREATE VIEW small_things AS SELECT id FROM things WHERE note IS NULL;';
const TRIGGERS = `
CREATE TRIGGER note_parts AFTER INSERT ON parts BEGIN UPDATE things SET label = 'has parts' WHERE id = NEW.thing_id; END;
`;
const OWN_TRIGGER = `
CREATE TRIGGER name_things AFTER INSERT ON things BEGIN UPDATE things SET label = 'new' WHERE id = NEW.id; END;
`;

function edit(domain: AnyDomain, collection: string, kind: string, change: (sql: string) => string) {
  const file = new URL(`${kind}/0001-first.sql`, domain[collection]?.migrations);
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

const CHECKS = `CHECK (length(name) < 50 /* ) */ AND name <> 'x)'), CHECK (coalesce(colour, '') <> 'grey')`;

/** Writes the first migration, and adds the team's SQL. */
function writeFirst(domain: AnyDomain) {
  writeNext(domain, 'first', NONE);
  for (const kind of ['sqlite', 'postgres']) {
    const withChecks = (sql: string) =>
      sql.replace(/\n\)( STRICT)?;/, `,\n  ${CHECKS},\n  UNIQUE (label, size)\n)$1;`) + BY_HAND;
    edit(domain, 'things', kind, (sql) => withChecks(sql) + (kind === 'sqlite' ? OWN_TRIGGER + VIEW : ''));
  }
  edit(domain, 'parts', 'sqlite', (sql) => sql + TRIGGERS);
}

const SECOND = {
  id: ID,
  ownerId: { type: 'int64', of: 'owners', onDelete: 'delete' },
  name: { type: 'text', isOptional: true },
  size: { type: 'int64' },
  note: { type: 'text', first: "it's" },
  label: { type: 'text', isOptional: true },
  pieces: { type: 'int64', first: 3n },
  friend: { type: 'int64', isOptional: true, of: 'owners' },
} as const;

type Collections = Record<'owners' | 'things' | 'parts', AnyCollection>;

function buildOpen(t: Test, prepare: (t: Test) => Open) {
  const open = prepare(t);
  return async (domain: AnyDomain, toWarnings: (warnings: string[]) => unknown = () => {}): Promise<Collections> => {
    const warnings: string[] = [];
    const { store } = await open(domain, {}, { onWarning: (warning) => warnings.push(warning) });
    toWarnings(warnings);
    return store.collections as unknown as Collections;
  };
}

function testRebuilds(t: Test, prepare: (t: Test) => Open): void {
  t.test(
    'a generated migration can change column types and foreign keys, and keeps records, their children and indexes',
    async (t) => {
      const toDomain = buildDomain(t);
      const open = buildOpen(t, prepare);
      const first = toDomain(FIRST, {
        unique: [{ fields: ['colour'], code: 'taken' }],
        lists: { equal: ['ownerId', 'note'] },
      });
      writeFirst(first);
      const before = await open(first);
      const { id: ownerId } = await before.owners.create({ name: 'Ada' });
      for (const [name, size, note] of [
        ['a', '9007199254740993'],
        ['b', '-2', 'kept'],
        ['c', '3'],
      ])
        await before.things.create({ ownerId, name, size, ...(note && { note }) });
      await before.parts.createAll([{ thingId: 1n }, { thingId: 2n }]);
      t.equal(await before.things.delete(3n), true);

      const second = toDomain(SECOND, {
        unique: [{ fields: ['name'], code: 'name_taken' }],
        lists: { equal: ['ownerId', 'note'] },
      });
      const answers = { ...NONE, drop: new Set(['things.colour']) };
      t.match(writeNext(second, 'second', answers), { files: [/sqlite\/0002-second.sql$/, /postgres\/0002/] });
      t.strictSame(writeNext(second, 'again', NONE), { files: [] });
      const { owners, things, parts } = await open(second, (warnings) => t.strictSame(warnings, []));
      t.match(await things.read(1n), { id: 1n, ownerId, name: 'a', size: 9007199254740993n, note: "it's", pieces: 3n });
      t.match(await things.read(2n), { name: 'b', size: -2n, note: 'kept' });
      t.match(await things.create({ ownerId, name: 'a', size: 1n }), { refused: 'name_taken' });
      t.match(await things.create({ ownerId: 9n, name: 'd', size: 1n }), { refused: 'no_such_owners' });
      t.match(await things.create({ ownerId, size: 1n, friend: 9n }), { refused: 'no_such_owners' });
      const { id: thingId } = (await things.create({ ownerId, size: 1n, note: 'n' })) as { id: bigint };
      t.ok(thingId > 3n, 'the id of a deleted record is not given again');
      await t.rejects(things.create({ ownerId, name: 'x'.repeat(50), size: 2n }), 'a check stays');
      t.match(await parts.create({ thingId: 9n }), { refused: 'no_such_things' });
      await parts.create({ thingId });
      const label = t.fullname.includes('SQLite file') ? 'has parts' : undefined;
      t.equal((await things.read(thingId))?.label, label, 'the triggers on both tables still work');
      await owners.delete(ownerId as bigint);
      t.equal(await parts.read(1n), undefined, 'deleting a parent deletes its children');
      t.equal(await things.read(1n), undefined);
    },
  );

  t.test('a generated migration fails if a stored value does not fit the new type', async (t) => {
    const toDomain = buildDomain(t);
    const open = buildOpen(t, prepare);
    writeNext(toDomain(FIRST), 'first', NONE);
    const { owners, things } = await open(toDomain(FIRST));
    const { id: ownerId } = await owners.create({ name: 'Ada' });
    await things.create({ ownerId, name: 'a', size: '1.5' });
    const second = toDomain({ ...FIRST, size: { type: 'int64' } });
    writeNext(second, 'second', NONE);
    await t.rejects(open(second), { message: /things\/0002-second\.sql/ });
  });

  t.test(
    'a generated migration keeps the order of records with UUIDs, and can make a unique field ignore case',
    async (t) => {
      const toDomain = buildDomain(t);
      const open = buildOpen(t, prepare);
      const uuids = { ...FIRST, id: { type: 'uuid', set: 'id' }, ownerId: { type: 'text' } } as const;
      const toThings = (columns: AnyDescription['columns'], more: Partial<AnyDescription> = {}): AnyDomain => {
        const { things } = toDomain(columns, more);
        return { things } as AnyDomain;
      };
      writeNext(toThings(uuids), 'first', NONE);
      const { things } = await open(toThings(uuids));
      for (const name of ['b', 'a']) await things.create({ ownerId: 'Ada', name, size: '1' });
      const changed = { ...uuids, size: { type: 'int32' }, name: { type: 'text', ignoresCase: true } } as const;
      const second = toThings(changed, { unique: [{ fields: ['name'], code: 'name_taken' }] });
      writeNext(second, 'second', NONE);
      t.strictSame(writeNext(second, 'again', NONE), { files: [] });
      const now = await open(second);
      t.match((await now.things.list({ limit: 9 }))?.body.read(), [{ name: 'b', size: 1 }, { name: 'a' }]);
      t.match(await now.things.create({ ownerId: 'Ada', name: 'A', size: 1 }), { refused: 'name_taken' });
    },
  );

  t.test(
    'if domain.ts replaces one reference by another one, a generated migration replaces the foreign key',
    async (t) => {
      const toDomain = buildDomain(t);
      const open = buildOpen(t, prepare);
      writeNext(toDomain(FIRST), 'first', NONE);
      const { owners, things } = await open(toDomain(FIRST));
      const { id: ownerId } = await owners.create({ name: 'Ada' });
      await things.create({ ownerId, name: 'a', size: 's' });
      const { ownerId: _owner, ...others } = FIRST;
      const without = toDomain({ ...others, ownerId: { type: 'int64' } });
      writeNext(without, 'second', NONE);
      t.match(await (await open(without)).things.create({ ownerId: 9n, name: 'b', size: 's' }), { id: 2n });
      const third = toDomain({ ...others, friend: { type: 'int64', isOptional: true, of: 'owners' } });
      t.match(writeNext(third, 'third', { ...NONE, drop: new Set(['things.owner_id']) }), { files: [/0003/, /0003/] });
      const now = await open(third);
      t.match(await now.things.create({ friend: 9n, name: 'c', size: 's' }), { refused: 'no_such_owners' });
      t.match(await now.things.read(1n), { name: 'a' });
    },
  );
}

onBoth(t, testRebuilds, {});

t.test(
  'a generated SQLite migration keeps triggers that a team added; `migration` asks about those on a dropped column',
  (t) => {
    const toDomain = buildDomain(t);
    const first = toDomain(FIRST, { unique: [{ fields: ['colour'], code: 'taken' }] });
    writeFirst(first);
    const second = toDomain(SECOND);
    const drop = new Set(['things.colour']);
    const file = new URL('sqlite/0002-second.sql', first.things?.migrations);
    writeNext(second, 'second', { ...NONE, drop });
    const sql = readFileSync(file, 'utf8');
    for (const kept of [
      "CHECK (length(name) < 50 /* ) */ AND name <> 'x)')\n",
      'UNIQUE (label, size)',
      'CREATE INDEX things_by_hand',
      'CREATE TRIGGER name_things',
    ])
      t.match(sql, kept);
    t.notMatch(sql, 'colour');
    const { label: _label, ...others } = SECOND;
    const both = { ...NONE, drop: new Set(['things.label', 'things.colour']) };
    t.match(writeNext(toDomain({ ...others, colour: FIRST.colour }), 'third', both), {
      questions: ['the trigger name_things of things uses a dropped column: write this migration by hand'],
    });
    t.end();
  },
);
