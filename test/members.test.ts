/** Unique texts that ignore letter case, and records that are deleted together with their parent, on all databases. */
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { type AnyCollection, type Fields, isRefused } from '../src/contract-first/store/collection.ts';
import { openStore } from '../src/contract-first/store/open-store.ts';
import type { Store } from '../src/contract-first/store/store.ts';
import { toTable, toTables } from '../src/contract-first/store/tables/table.ts';
import { LIMITS } from './database.ts';
import { domain } from './members/domain.ts';
import { idempotencyOf, onBoth } from './orders/shops.ts';

type Clubs = Record<keyof typeof domain, AnyCollection>;

const namesIn = async (clubs: AnyCollection, query: Fields): Promise<unknown[] | undefined> =>
  (await clubs.list({ limit: 9, ...query } as never))?.body.read().map(({ name }) => name);

function testMembers(t: Test, open: (t: Test) => Promise<Clubs>): void {
  t.test(
    'the store refuses a name that differs from a stored one only in letter case, with the code of the unique set',
    async (t) => {
      const { clubs } = await open(t);
      const made = await Promise.all(['Zebra', 'ZEBRA', 'zebra', '\u00c9tang'].map((name) => clubs.create({ name })));
      t.equal(made.filter(isRefused).length, 2);
      for (const one of made.filter(isRefused)) t.match(one, { refused: 'name_taken' });
      const other = (await clubs.create({ name: 'Other' })) as Fields;
      t.match(await clubs.update(other.id, { name: 'zebRA' }), { refused: 'name_taken' });
      t.match(await clubs.update(other.id, { name: 'OTHER' }), { name: 'OTHER' });
      // Only A to Z ignore case: `É` and `é` are different letters.
      t.match(await clubs.create({ name: '\u00e9TANG' }), { name: '\u00e9TANG' });
      t.match(await clubs.create({ name: '\u00e9tang' }), { refused: 'name_taken' });
    },
  );

  t.test('a unique set of several fields also ignores the letter case of a field with `ignoresCase`', async (t) => {
    const { clubs, members } = await open(t);
    const ids = (await clubs.createAll([{ name: 'a' }, { name: 'b' }])) as Fields[];
    const create = (email: string, clubId: unknown, nickname: string | undefined, position: bigint) =>
      members.create({ email, clubId, position, ...(nickname && { nickname }) });
    const [a, b] = ids.map(({ id }) => id);
    t.match(await create('1', a, 'Ann', 1n), { nickname: 'Ann' });
    t.match(await create('2', a, 'aNN', 2n), { refused: 'nickname_taken' });
    t.match(await create('2', a, 'Bob', 1n), { refused: 'position_taken' });
    t.match(await create('2', b, 'ANN', 1n), { nickname: 'ANN' });
    for (const position of [2n, 3n]) t.match(await create(`${position + 5n}`, a, undefined, position), { position });
    t.match(await create('1', b, 'x', 9n), { refused: 'exists' });
  });

  t.test(
    'conditions, filters, prefixes, ranges and orders ignore the letter case of a field with `ignoresCase`',
    async (t) => {
      const { clubs, members } = await open(t);
      const names = ['b_', 'Ba', 'BZ', 'bb', 'a', 'C', '[', '_', '\u00c9'];
      const [club] = (await clubs.createAll(names.map((name) => ({ name })))) as [Fields];
      t.match(await clubs.update(club.id, { name: 'B_' }, { if: { name: 'B_' } }), { name: 'B_' });
      t.match(await clubs.update(club.id, { name: 'b_' }, { if: { name: ['x', 'b_'] } }), { name: 'b_' });
      t.match(await clubs.update(club.id, { name: 'x' }, { if: { name: 'ba' } }), { refused: 'changed' });
      t.same(await namesIn(clubs, { name: 'bz' }), ['BZ']);
      t.same(await namesIn(clubs, { name: '\u00e9' }), []);
      t.same(await namesIn(clubs, { nameBegins: 'B', order: 'byName' }), ['b_', 'Ba', 'bb', 'BZ']);
      t.same(await namesIn(clubs, { name: { from: 'BB', below: 'D' }, order: 'byName' }), ['bb', 'BZ', 'C']);
      const found: unknown[] = [];
      for (let after: string | undefined, isFirst = true; isFirst || after; isFirst = false) {
        const page = await clubs.list({ limit: 2, order: 'byName', after } as never);
        found.push(...(page?.body.read().map(({ name }) => name) ?? []));
        after = page?.next;
      }
      t.same(found, ['[', '_', 'a', 'b_', 'Ba', 'bb', 'BZ', 'C', '\u00c9']);
      await members.createAll(
        ['x', 'X', 'y'].map((nickname, index) => ({
          email: `${index}`,
          clubId: BigInt(index + 1),
          nickname,
          position: 1n,
        })),
      );
      const first = await members.list({ limit: 1, nickname: 'X' } as never);
      t.match(first?.body.read(), [{ email: '0' }]);
      t.match((await members.list({ limit: 1, nickname: 'X', after: first?.next } as never))?.body.read(), [
        { email: '1' },
      ]);
      t.match((await members.list({ limit: 9, clubId: 2n, nickname: 'x' } as never))?.body.read(), [{ email: '1' }]);
    },
  );

  t.test(
    'deleting a record also deletes its dependent records, but deletes nothing if one of them may not be deleted',
    async (t) => {
      const { clubs, members, visits } = await open(t);
      const [a, b] = (await clubs.createAll([{ name: 'a' }, { name: 'b' }])) as [Fields, Fields];
      const all = [a, a, b].map(({ id: clubId }, index) => ({ email: `${index}`, clubId, position: BigInt(index) }));
      await members.createAll(all, { idempotency: idempotencyOf('all') });
      const visit = (await visits.create({ member: '0' })) as Fields;
      t.ok(await members.get('1'));
      t.match(await clubs.delete(a.id), { refused: 'referenced' });
      t.equal((await members.list({ limit: 9, clubId: a.id } as never))?.body.read().length, 2);
      t.match(await members.delete('0'), { refused: 'referenced' });
      t.equal(await visits.delete(visit.id), true);
      t.match(await clubs.delete(a.id, { if: { name: 'b' } }), { refused: 'changed' });
      const deleted = await Promise.all([
        clubs.delete(a.id, { idempotency: idempotencyOf('end') }),
        clubs.update(b.id, { name: 'c' }),
      ]);
      t.match(deleted, [true, { name: 'c' }]);
      t.equal(await clubs.delete(a.id, { idempotency: idempotencyOf('end') }), true);
      t.equal(await members.get('1'), undefined);
      t.match((await members.list({ limit: 9 }))?.body.read(), [{ email: '2' }]);
      t.match(await members.create(all[0] as Fields), { refused: 'no_such_clubs' });
      // The Idempotency-Key of a create still returns its answer, although the created records are deleted.
      t.match(await members.createAll(all, { idempotency: idempotencyOf('all') }), all);
      t.equal(await members.get('1'), undefined);
    },
  );
}

t.test('the store passes its tests with clubs and members in a SQLite database in memory', async (t) => {
  testMembers(t, async (t) => {
    const store = openStore({ kind: 'memory' }, domain, LIMITS) as unknown as Store;
    t.teardown(() => store.close());
    return store.collections as Clubs;
  });
});

onBoth(t, (t, prepare) => {
  testMembers(t, async (t) => (await prepare(t)(domain)).store.collections as Clubs);

  t.test(
    "the start fails if an index or a foreign key of the database differs from the collection's description",
    async (t) => {
      const open = prepare(t);
      await (await open(domain)).store.close();
      const { clubs, members, visits } = domain;
      const { email, clubId, position } = members.columns;
      const strict = { ...clubs, columns: { ...clubs.columns, name: { column: 'name', type: 'text' } } } as const;
      await t.rejects(open({ clubs: strict, members, visits }), { message: /clubs has no unique index on \(name\)/ });
      const exact = { column: 'nickname', type: 'text', isOptional: true } as const;
      const any = { ...members, columns: { email, clubId, nickname: exact, position } };
      await t.rejects(open({ clubs, members: any, visits }), {
        message: /members has no unique index on \(club_id, nickname\)/,
      });
      const folder = t.testdir({
        sqlite: {
          '0001-tags.sql': 'CREATE TABLE tags (id INTEGER PRIMARY KEY AUTOINCREMENT, label TEXT UNIQUE) STRICT;',
        },
        postgres: {
          '0001-tags.sql':
            'CREATE TABLE tags (id bigint PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, label text COLLATE "C" UNIQUE);',
        },
      });
      const tags = {
        ...{ noun: 'tag', table: 'tags', errors: {}, migrations: pathToFileURL(`${folder}/`) },
        columns: { id: { type: 'int64', set: 'id' }, label: { type: 'text', isOptional: true, ignoresCase: true } },
        unique: [{ fields: ['label'], code: 'label_taken' }],
      } as const;
      await t.rejects(open({ ...domain, tags } as never), {
        message: /tags has no unique index on \((label COLLATE NOCASE|lower\(label\))\)/,
      });
      const stays = { column: 'club_id', type: 'int64', of: 'clubs' } as const;
      await t.rejects(
        open({ clubs, members: { ...members, columns: { ...members.columns, clubId: stays } }, visits }),
        {
          message: /members.club_id is not a foreign key to clubs without ON DELETE CASCADE/,
        },
      );
      const goes = { ...visits.columns.member, onDelete: 'delete' } as const;
      await t.rejects(open({ clubs, members, visits: { ...visits, columns: { ...visits.columns, member: goes } } }), {
        message: /visits.member is not a foreign key to members with ON DELETE CASCADE/,
      });
    },
  );
});

t.test('`ignoresCase` of an id, a reference or a column that is not a text is an error', async (t) => {
  const { clubs, members, visits } = domain;
  const ignoring = (description: typeof clubs | typeof members | typeof visits, name: string) => {
    const columns: Fields = description.columns;
    return {
      ...description,
      columns: { ...columns, [name]: { ...(columns[name] as Fields), ignoresCase: true } },
    } as never;
  };
  const all = [ignoring(members, 'email'), ignoring(visits, 'member'), ignoring(members, 'position')];
  for (const one of all)
    t.throws(() => toTable(one), { message: /^\w+\.\w+ cannot ignore case: it is an id, or not a text/ });
});

t.test('`onDelete` of a column that does not refer to a collection is an error', async (t) => {
  const name = { column: 'name', type: 'text', onDelete: 'delete' } as const;
  const alone = { ...domain.clubs, columns: { ...domain.clubs.columns, name } };
  t.throws(() => toTables({ clubs: alone }), {
    message: 'clubs.name has `onDelete`, but does not refer to a collection',
  });
});
