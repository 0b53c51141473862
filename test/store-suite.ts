/** What any store must do, in tests: each kind of store runs them all. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { stringify } from 'lossless-json';
import type { Test } from 'tap';
import { makeKey, toStoredKey } from '../src/access/api-keys.ts';
import type { JsonText } from '../src/json/json-text.ts';
import type { NewPet, Once, PageQuery, Pet, Store, StoredKey } from '../src/store/store.ts';

/** An empty place for pets, for one test. */
export interface Place {
  /** Opens another store there at each call. */
  open(): Store | Promise<Store>;
  /** Runs SQL there, beside the stores. */
  execute(sql: string): void | Promise<void>;
  /** How many rows a table has. */
  count(table: string): number | Promise<number>;
}

export interface StoreKind {
  prepare(t: Test): Place;
  /** Whether the other stores of its place see what one has written. */
  isShared: boolean;
}

const REX: NewPet = { name: 'Rex', categoryId: 7n };
const ONCE: Once = { caller: 'Ada', key: 'first', hours: 24 };
const MOST = 2n ** 63n - 1n;

export function testStore(t: Test, { prepare, isShared }: StoreKind): void {
  const openOne = (t: Test, place = prepare(t)) => openIn(t, place);

  t.test('each pet gets an id of its own, higher than those before', async (t) => {
    const store = await openOne(t);
    const ids: bigint[] = [];
    for (let count = 0; count < 5; count++) ids.push((await store.createPet(REX)).id);
    t.ok((ids[0] as bigint) > 0n);
    t.strictSame(ids, [...new Set(ids)].sort(ascending));
  });

  t.test('a pet comes back as it was given, with its id, when it is created and later', async (t) => {
    const store = await openOne(t);
    for (const pet of [REX, ...['available', 'pending', 'sold'].map((status) => ({ ...REX, status }) as NewPet)]) {
      const created = await store.createPet(pet);
      t.strictSame(created, { ...pet, id: created.id });
      t.equal((await store.getPet(created.id))?.text, toText(created));
      t.equal(await lastOf(store), toText(created));
    }
  });

  t.test('an undefined status is the same as none', async (t) => {
    const store = await openOne(t);
    const { id } = await store.createPet({ ...REX, status: undefined } as unknown as NewPet);
    t.equal((await store.getPet(id))?.text, `{"id":${id},"name":"Rex","categoryId":7}`);
  });

  t.test('a field that the store does not keep is not in its answer', async (t) => {
    const store = await openOne(t);
    const created = await store.createPet({ ...REX, nickname: 'T' } as NewPet);
    t.strictSame(created, { ...REX, id: created.id });
    t.equal((await store.getPet(created.id))?.text, toText(created));
  });

  t.test('a categoryId keeps every digit of 64 bits', async (t) => {
    const store = await openOne(t);
    for (const categoryId of [0n, -1n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, MOST, -MOST - 1n]) {
      const created = await store.createPet({ name: 'Rex', categoryId });
      t.equal(created.categoryId, categoryId);
      t.equal((await store.getPet(created.id))?.text, `{"id":${created.id},"name":"Rex","categoryId":${categoryId}}`);
      t.equal(await lastOf(store), toText(created));
    }
  });

  t.test('every Unicode character comes back unchanged, as the JSON that a serializer prints', async (t) => {
    const store = await openOne(t);
    const pets = await Promise.all(unicodeNames().map((name) => store.createPet({ name, categoryId: 7n })));
    const texts = await readAll(store, { limit: 100 });
    // Strings of this length are compared here, and not by tap, whose report would be as long.
    t.ok(texts.join() === pets.sort(byId).map(toText).join());
    for (const pet of pets.filter((_, index) => index % 100 === 0)) {
      t.equal((await store.getPet(pet.id))?.text, toText(pet));
    }
  });

  t.test('names that look like something else, or hardly differ, are kept exactly', async (t) => {
    const store = await openOne(t);
    for (const name of [
      '"\\/\b\f\n\r\t\u007f\u0080\u2028\u2029\ufeff\uffff',
      "'; DROP TABLE pets; --",
      '{"id":1}',
      'null',
      '7',
      ' ',
      '\\u0041',
      '$1 ? :name %s',
      'é',
      'e\u0301',
      'ß',
      'SS',
      '🐕'.repeat(255),
      '👩‍👩‍👧‍👦',
    ]) {
      const created = await store.createPet({ name, categoryId: 7n });
      t.equal(created.name, name);
      t.equal((await store.getPet(created.id))?.text, toText(created));
      t.equal(await lastOf(store), toText(created));
    }
  });

  t.test('a pet that is not there is undefined, at both ends of the range too', async (t) => {
    const store = await openOne(t);
    const { id } = await store.createPet(REX);
    for (const other of [id + 1n, id - 1n, 0n, -id, MOST, -MOST - 1n]) t.equal(await store.getPet(other), undefined);
  });

  t.test('an empty store lists as an empty page without a next one', async (t) => {
    const store = await openOne(t);
    t.strictSame(await pageOf(store, { limit: 1 }), { text: '[]', next: undefined });
    t.strictSame(await pageOf(store, { limit: 100, status: 'sold' }), { text: '[]', next: undefined });
  });

  t.test('pages hold up to limit pets by ascending id, and a next one where there is more', async (t) => {
    const store = await openOne(t);
    const pets = await addPets(store, 6);
    const texts = pets.map(toText);
    const ids = pets.map(({ id }) => id);
    t.strictSame(await pageOf(store, { limit: 5 }), { text: `[${texts.slice(0, 5)}]`, next: ids[4] });
    t.strictSame(await pageOf(store, { limit: 6 }), { text: `[${texts}]`, next: undefined });
    t.strictSame(await pageOf(store, { limit: 7 }), { text: `[${texts}]`, next: undefined });
    t.strictSame(await pageOf(store, { limit: 2, after: ids[1] }), { text: `[${texts.slice(2, 4)}]`, next: ids[3] });
    t.strictSame(await pageOf(store, { limit: 2, after: ids[3] }), { text: `[${texts.slice(4)}]`, next: undefined });
    t.strictSame(await pageOf(store, { limit: 2, after: ids[4] }), { text: `[${texts.slice(5)}]`, next: undefined });
    t.strictSame(await pageOf(store, { limit: 2, after: ids[5] }), { text: '[]', next: undefined });
    t.strictSame(await pageOf(store, { limit: 2, after: MOST }), { text: '[]', next: undefined });
    t.strictSame(await pageOf(store, { limit: 6, after: -MOST - 1n }), { text: `[${texts}]`, next: undefined });
  });

  t.test('a status filters the pages, and whether there is a next one', async (t) => {
    const store = await openOne(t);
    const pets = await addPets(store, 8);
    for (const status of ['available', 'pending', 'sold'] as const) {
      const [first, second] = pets.filter((pet) => pet.status === status) as [Pet, Pet];
      t.strictSame(await pageOf(store, { limit: 1, status }), { text: `[${toText(first)}]`, next: first.id });
      t.strictSame(await pageOf(store, { limit: 1, status, after: first.id }), {
        text: `[${toText(second)}]`,
        next: undefined,
      });
      t.strictSame(await pageOf(store, { limit: 2, status }), {
        text: `[${toText(first)},${toText(second)}]`,
        next: undefined,
      });
      t.strictSame(await pageOf(store, { limit: 2, status, after: second.id }), { text: '[]', next: undefined });
    }
  });

  t.test('the pages show each pet once, with any limit', async (t) => {
    const store = await openOne(t);
    const texts = (await addPets(store, 25)).map(toText);
    for (const limit of [1, 2, 5, 24, 25, 26, 100]) t.strictSame(await readAll(store, { limit }), texts);
    const sold = texts.filter((text) => text.includes('sold'));
    t.strictSame(await readAll(store, { limit: 4, status: 'sold' }), sold);
  });

  t.test('pets that are created at once all get an id, and are all there', async (t) => {
    const store = await openOne(t);
    const pets = await Promise.all(
      Array.from({ length: 1000 }, (_, index) => store.createPet({ name: `Pet ${index}`, categoryId: BigInt(index) })),
    );
    t.equal(new Set(pets.map(({ id }) => id)).size, 1000);
    t.strictSame(
      pets.map(({ name }) => name),
      pets.map((_, index) => `Pet ${index}`),
    );
    t.strictSame(await readAll(store, { limit: 100 }), pets.sort(byId).map(toText));
  });

  t.test('a pet is in the list as soon as it is created, while others are being created', async (t) => {
    const store = await openOne(t);
    const misses: bigint[] = [];
    const createAndFind = async () => {
      for (let count = 0; count < 20; count++) {
        const { id } = await store.createPet(REX);
        const { body } = await store.listPets({ limit: 1000 });
        if (!body.text.includes(`{"id":${id},`)) misses.push(id);
      }
    };
    await Promise.all(Array.from({ length: 50 }, createAndFind));
    t.strictSame(misses, []);
  });

  t.test(
    'a create with a key is done once: sent again, it is answered as before; another pet is refused',
    async (t) => {
      const store = await openOne(t);
      const rex: NewPet = { name: 'Rex', categoryId: MOST, status: 'sold' };
      const created = await store.createPetOnce(rex, ONCE);
      t.match(created, { isReplayed: false, pet: rex });
      for (const same of [rex, { status: 'sold', categoryId: MOST, name: 'Rex' } as const]) {
        t.strictSame(await store.createPetOnce(same, ONCE), { ...created, isReplayed: true });
      }
      for (const other of [
        { ...rex, name: 'Mia' },
        { ...rex, categoryId: 7n },
        { name: 'Rex', categoryId: MOST },
      ]) {
        t.equal(await store.createPetOnce(other, ONCE), undefined);
      }
      const others = [
        { ...ONCE, key: 'FIRST' },
        { ...ONCE, caller: 'Ben' },
        { ...ONCE, key: `'"\\; ${'~'.repeat(240)}` },
      ];
      for (const once of others) t.match(await store.createPetOnce(rex, once), { isReplayed: false });
      t.equal((await readAll(store, { limit: 100 })).length, 1 + others.length);
    },
  );

  t.test('creates with the same key at once create one pet, and all are answered with it, among others', async (t) => {
    const store = await openOne(t);
    const creates = Array.from({ length: 400 }, async (_, index) => {
      const pet: NewPet = { name: `Pet ${index % 20}`, categoryId: index < 200 ? 7n : BigInt(index) };
      if (index >= 200) return store.createPet(pet);
      return (await store.createPetOnce(pet, { ...ONCE, key: pet.name }))?.pet as Pet;
    });
    const made = await Promise.all(creates);
    const ofKeys = new Map(made.slice(0, 200).map((pet) => [pet.name, pet]));
    for (const pet of made.slice(0, 200)) t.strictSame(pet, ofKeys.get(pet.name));
    const all = [...ofKeys.values(), ...made.slice(200)].sort(byId);
    t.equal(all.length, 220);
    t.strictSame(await readAll(store, { limit: 100 }), all.map(toText));
    const others = [REX, REX, { ...REX, name: 'Mia' }, REX].map((pet) => store.createPetOnce(pet, ONCE));
    t.strictSame(
      (await Promise.all(others)).map((created) => created?.isReplayed),
      [false, true, undefined, true],
    );
  });

  t.test('a key is unknown after its time, and may be used for another pet', async (t) => {
    const store = await openOne(t);
    const once = { ...ONCE, hours: 0 };
    const made = [];
    for (const pet of [REX, REX, { ...REX, name: 'Mia' }]) made.push(await store.createPetOnce(pet, once));
    t.strictSame(
      made.map((created) => [created?.pet.name, created?.isReplayed]),
      [
        ['Rex', false],
        ['Rex', false],
        ['Mia', false],
      ],
    );
    t.equal((await readAll(store, { limit: 100 })).length, 3);
  });

  t.test(
    'pets that do not fit a contract are counted, until all fit: from then on they are not read again',
    async (t) => {
      const store = await openOne(t);
      const pets = await addPets(store, 8);
      let seen: Pet[] = [];
      const isUnsold = (pet: Pet) => seen.push(pet) > 0 && pet.status !== 'sold';
      for (let count = 0; count < 2; count++) {
        seen = [];
        t.equal(await store.countMisfits('first', isUnsold), 2);
        t.strictSame(seen.sort(byId), pets);
      }
      const isAny = (pet: Pet) => seen.push(pet) > 0;
      for (const [contract, read] of [
        ['second', 8],
        ['second', 0],
        ['third', 8],
        ['second', 8],
      ] as const) {
        seen = [];
        t.equal(await store.countMisfits(contract, isAny), 0);
        t.equal(seen.length, read, contract);
      }
    },
  );

  t.test('keys are listed the oldest first, with all that was stored', async (t) => {
    const store = await openOne(t);
    const keys = [
      { ...toStoredKey(makeKey(), 'second'), createdAt: '2026-01-02T00:00:00.000Z' },
      { ...toStoredKey(makeKey(), 'first', new Date()), createdAt: '2026-01-01T00:00:00.000Z' },
      { ...toStoredKey(makeKey(), "th'ird 🔑", undefined, undefined, '100/s'), createdAt: '2026-01-03T00:00:00.000Z' },
    ];
    t.strictSame(await store.listKeys(), []);
    for (const key of keys) await store.createKey(key);
    t.same(await store.listKeys(), [keys[1], keys[0], keys[2]]);
  });

  t.test('a key that is replaced ends when it is told, or earlier, and the other one is there at once', async (t) => {
    const store = await openOne(t);
    const key = { ...toStoredKey(makeKey(), 'Ada', new Date('2026-01-09')), scopes: ['pets:read', 'pets:write'] };
    const next = { ...toStoredKey(makeKey(), 'Ada'), scopes: [] };
    const last = toStoredKey(makeKey(), 'Ada');
    await store.createKey(key);
    t.equal(await store.replaceKey(key.id, next, '2026-01-10T00:00:00.000Z'), true);
    t.equal(await store.replaceKey(next.id, last, '2026-01-11T00:00:00.000Z'), true);
    t.equal(await store.replaceKey('unknown', toStoredKey(makeKey(), 'Ben'), '2026-01-12T00:00:00.000Z'), false);
    await store.revokeKey(last.id, '2026-01-01T00:00:00.000Z');
    t.equal(await store.replaceKey(last.id, toStoredKey(makeKey(), 'Ben'), '2026-01-12T00:00:00.000Z'), false);
    const ends = new Map((await store.listKeys()).map(({ id, expiresAt, scopes }) => [id, { expiresAt, scopes }]));
    t.same(
      ends,
      new Map([
        [key.id, { expiresAt: '2026-01-09T00:00:00.000Z', scopes: ['pets:read', 'pets:write'] }],
        [next.id, { expiresAt: '2026-01-11T00:00:00.000Z', scopes: [] }],
        [last.id, { expiresAt: undefined, scopes: undefined }],
      ]),
    );
  });

  t.test('a key is revoked once, and stays in the list with the time when it was revoked', async (t) => {
    const store = await openOne(t);
    const key = toStoredKey(makeKey(), 'Ada');
    const other = toStoredKey(makeKey(), 'Ben');
    await store.createKey(key);
    await store.createKey(other);
    t.equal(await store.revokeKey(key.id, '2026-01-01T00:00:00.000Z'), true);
    t.equal(await store.revokeKey(key.id, '2026-01-02T00:00:00.000Z'), false);
    t.equal(await store.revokeKey('unknown', '2026-01-01T00:00:00.000Z'), false);
    const revoked = Object.fromEntries((await store.listKeys()).map(({ id, revokedAt }) => [id, revokedAt]));
    t.strictSame(revoked, { [key.id]: '2026-01-01T00:00:00.000Z', [other.id]: undefined });
  });

  t.test('of the keys, only those are read that have changed since they were read before', async (t) => {
    const store = await openOne(t);
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => toStoredKey(makeKey(), name)) as [
      ...[StoredKey, StoredKey, StoredKey, StoredKey],
    ];
    for (const key of [a, b, c]) await store.createKey(key);
    const byName = (keys: StoredKey[]) => keys.sort((one, other) => (one.name < other.name ? -1 : 1));
    const first = await store.readKeys();
    t.same([first.isAll, byName(first.keys)], [true, [a, b, c]]);
    t.strictSame(await store.readKeys(first.version), { ...first, isAll: false, keys: [] });

    const revoked = { ...a, revokedAt: '2026-01-02T00:00:00.000Z' };
    await store.revokeKey(a.id, revoked.revokedAt);
    const second = await store.readKeys(first.version);
    t.same([second.isAll, second.keys], [false, [revoked]]);
    t.same(byName((await store.readKeys()).keys), [b, c]);

    const ended = { ...b, expiresAt: '2026-01-03T00:00:00.000Z' };
    await store.replaceKey(b.id, d, ended.expiresAt);
    const third = await store.readKeys(second.version);
    t.same([third.isAll, byName(third.keys)], [false, [ended, d]]);
    t.equal(new Set([first, second, third].map(({ version }) => version)).size, 3);
  });

  t.test('uses of keys add up, and the latest time is kept', async (t) => {
    const place = prepare(t);
    const store = await openOne(t, place);
    const use = (keyId: string, operationId: string, count: number, day: number) => {
      return { keyId, operationId, count, usedAt: `2026-01-0${day}T00:00:00.000Z` };
    };
    t.strictSame(await store.listUses(), []);
    await store.addUses([use('b', '', 0, 2), use("a'🔑", 'getPet', 2, 1), use("a'🔑", '', 0, 1)]);
    await store.addUses([use("a'🔑", 'getPet', 3, 3), use('b', '', 0, 1), use('c', '', 0, 1)]);
    while ((await store.listUses()).length < 4) await nextTurn();
    t.same(await store.listUses(), [
      use("a'🔑", '', 0, 1),
      use("a'🔑", 'getPet', 5, 3),
      use('b', '', 0, 2),
      use('c', '', 0, 1),
    ]);
    if (!isShared) return;
    await store.addUses([use('d', '', 0, 1)]);
    await store.close();
    t.match((await (await openOne(t, place)).listUses()).at(-1), { keyId: 'd' });
  });

  t.test('a store that works passes its check', async (t) => {
    const store = await openOne(t);
    await t.resolves(async () => store.check());
  });

  t.test('closing waits for what is being written', async (t) => {
    const store = await prepare(t).open();
    const pets = Promise.all(Array.from({ length: 100 }, () => store.createPet(REX)));
    await store.close();
    t.equal(new Set((await pets).map(({ id }) => id)).size, 100);
  });

  t.test('closing a second time does no harm', async (t) => {
    const store = await openOne(t);
    await store.createPet(REX);
    await store.close();
    await t.resolves(async () => store.close());
  });

  if (isShared) testSharing(t, prepare);
}

/** What the stores of one place must do. */
export function testSharing(t: Test, prepare: StoreKind['prepare']): void {
  t.test('a store sees what another has written: pets, keys, revoked keys', async (t) => {
    const place = prepare(t);
    const writer = await openIn(t, place);
    const reader = await openIn(t, place);
    for (let count = 0; count < 20; count++) {
      const pet = await writer.createPet(REX);
      // Another process hears of the pet in a later turn of its event loop than the one in which it was written.
      await nextTurn();
      t.equal((await reader.getPet(pet.id))?.text, toText(pet));
      t.equal(await lastOf(reader), toText(pet));
    }
    const key = toStoredKey(makeKey(), 'Ada');
    const version = (await reader.readKeys()).version;
    await writer.createKey(key);
    t.not((await reader.readKeys()).version, version);
    t.same(await reader.listKeys(), [key]);
    await writer.revokeKey(key.id, '2026-01-01T00:00:00.000Z');
    t.same(await reader.listKeys(), [{ ...key, revokedAt: '2026-01-01T00:00:00.000Z' }]);
  });

  t.test('what was being written when a store was closed is there', async (t) => {
    const place = prepare(t);
    const store = await place.open();
    const pets = Promise.all(Array.from({ length: 100 }, () => store.createPet(REX)));
    await store.close();
    t.strictSame(await readAll(await openIn(t, place), { limit: 100 }), (await pets).sort(byId).map(toText));
  });

  t.test('lists and gets show at once what was changed, deleted or added without the store', async (t) => {
    const place = prepare(t);
    const store = await openIn(t, place);
    const ids = (await addPets(store, 6)).map(({ id }) => id);
    const edits: [sql: string, names: string[], sold: string[]][] = [
      [
        `UPDATE pets SET name = 'Abe' WHERE id = ${ids[0]}`,
        ['Abe', 'Pet 1', 'Pet 2', 'Pet 3', 'Pet 4', 'Pet 5'],
        ['Pet 3'],
      ],
      [
        `UPDATE pets SET status = 'sold' WHERE id = ${ids[0]}`,
        ['Abe', 'Pet 1', 'Pet 2', 'Pet 3', 'Pet 4', 'Pet 5'],
        ['Abe', 'Pet 3'],
      ],
      [`DELETE FROM pets WHERE id = ${ids[1]}`, ['Abe', 'Pet 2', 'Pet 3', 'Pet 4', 'Pet 5'], ['Abe', 'Pet 3']],
      [`DELETE FROM pets WHERE id = ${ids[5]}`, ['Abe', 'Pet 2', 'Pet 3', 'Pet 4'], ['Abe', 'Pet 3']],
      [
        `INSERT INTO pets (id, name, category_id, status) VALUES (${ids[1]}, 'Ben', 7, 'sold')`,
        ['Abe', 'Ben', 'Pet 2', 'Pet 3', 'Pet 4'],
        ['Abe', 'Ben', 'Pet 3'],
      ],
      [
        `UPDATE pets SET id = id + 100 WHERE id = ${ids[0]}`,
        ['Ben', 'Pet 2', 'Pet 3', 'Pet 4', 'Abe'],
        ['Ben', 'Pet 3', 'Abe'],
      ],
      ['DELETE FROM pets', [], []],
    ];
    const namesOf = (texts: string[]) => texts.map((text) => JSON.parse(text).name);
    for (const [sql, names, sold] of edits) {
      await place.execute(sql);
      await nextTurn();
      for (const limit of [2, 100]) {
        t.strictSame(namesOf(await readAll(store, { limit })), names, sql);
        t.strictSame(namesOf(await readAll(store, { limit, status: 'sold' })), sold, sql);
      }
      const texts = await readAll(store, { limit: 100 });
      for (const text of texts) t.equal((await store.getPet(BigInt(JSON.parse(text).id)))?.text, text);
      for (const id of ids.filter((id) => !texts.some((text) => text.startsWith(`{"id":${id},`))))
        t.equal(await store.getPet(id), undefined);
    }
  });

  t.test('stores that create with the same key at once create one pet, and both answer with it', async (t) => {
    const place = prepare(t);
    const stores = [await openIn(t, place), await openIn(t, place)];
    const createAll = (key: string) => stores.map((store) => store.createPetOnce(REX, { ...ONCE, key }));
    const made = await Promise.all(Array.from({ length: 100 }, (_, key) => Promise.all(createAll(String(key)))));
    for (const [one, other] of made) {
      t.strictSame([one?.pet, [one?.isReplayed, other?.isReplayed].sort()], [other?.pet, [false, true]]);
    }
    t.equal((await readAll(stores[0] as Store, { limit: 100 })).length, 100);
  });

  t.test('a pet that was edited or deleted since is answered as it was created', async (t) => {
    const place = prepare(t);
    const store = await openIn(t, place);
    const created = await store.createPetOnce(REX, ONCE);
    for (const sql of ["UPDATE pets SET name = 'Abe'", 'DELETE FROM pets']) {
      await place.execute(sql);
      t.strictSame(await store.createPetOnce(REX, ONCE), { ...created, isReplayed: true });
    }
    t.strictSame(await readAll(store, { limit: 100 }), []);
  });

  t.test('after an import, the keys of pets that were there before are unknown', async (t) => {
    const place = prepare(t);
    const store = await openIn(t, place);
    await store.createPetOnce(REX, ONCE);
    await place.execute('DELETE FROM pets');
    async function* contents() {
      yield { lastId: 7n, keys: [], pets: [{ ...REX, name: 'Mia', id: 1n }] };
    }
    await store.writeContents(contents(), 'contract');
    t.strictSame(await store.createPetOnce(REX, ONCE), { pet: { ...REX, id: 8n }, isReplayed: false });
  });

  t.test('old keys are forgotten by and by, as new ones come, and those that still count are kept', async (t) => {
    const place = prepare(t);
    const store = await openIn(t, place);
    const createAll = (name: string, count: number, hours: number) =>
      Promise.all(
        Array.from({ length: count }, (_, key) => store.createPetOnce(REX, { caller: name, key: String(key), hours })),
      );
    await createAll('old', 100, 0);
    await createAll('new', 1, 24);
    const counts = [Number(await place.count('idempotency_keys'))];
    for (let key = 0; key < 100; key++) {
      await store.createPetOnce(REX, { caller: 'newer', key: String(key), hours: 24 });
      counts.push(Number(await place.count('idempotency_keys')));
    }
    t.strictSame(
      counts.filter((count, index) => index > 0 && Math.abs(count - (counts[index - 1] as number)) > 1),
      [],
    );
    t.equal(counts.at(-1), 101);
    t.match(await createAll('new', 1, 24), [{ isReplayed: true }]);
  });

  t.test('two stores that write at once never give the same id', async (t) => {
    const place = prepare(t);
    const stores = [await openIn(t, place), await openIn(t, place)];
    const pets = await Promise.all(stores.flatMap((store) => Array.from({ length: 200 }, () => store.createPet(REX))));
    t.equal(new Set(pets.map(({ id }) => id)).size, 400);
    t.strictSame(await readAll(stores[0] as Store, { limit: 100 }), pets.sort(byId).map(toText));
  });

  t.test('what was written is there after reopening, and no id is used again', async (t) => {
    const place = prepare(t);
    const texts: string[] = [];
    for (let count = 0; count < 3; count++) {
      const store = await place.open();
      texts.push(toText(await store.createPet(REX)));
      t.strictSame(await readAll(store, { limit: 100 }), texts);
      await store.close();
    }
    t.equal(new Set(texts).size, 3);
  });
}

/** A store that the test closes at its end. */
async function openIn(t: Test, { open }: Place): Promise<Store> {
  const store = await open();
  t.teardown(() => store.close());
  return store;
}

const ascending = (a: bigint, b: bigint) => (a < b ? -1 : 1);
const byId = (a: Pet, b: Pet) => ascending(a.id, b.id);

/** The pet as the server prints it, by the order of the contract's fields. */
function toText({ id, name, categoryId, status }: Pet): string {
  return stringify({ id, name, categoryId, status }) as string;
}

async function pageOf(store: Store, query: PageQuery): Promise<{ text: string; next: bigint | undefined }> {
  const { body, next } = await store.listPets(query);
  return { text: body.text, next };
}

/** The pets of every page, one text each. */
async function readAll(store: Store, query: PageQuery): Promise<string[]> {
  const texts: string[] = [];
  for (let after: bigint | undefined = 0n; after !== undefined; ) {
    const { body, next }: { body: JsonText<Pet[]>; next?: bigint | undefined } = await store.listPets({
      ...query,
      after,
    });
    if (body.text !== '[]') texts.push(...body.text.slice(1, -1).split(/,(?=\{"id":)/));
    after = next;
  }
  return texts;
}

/** The newest pet, as the list shows it. */
async function lastOf(store: Store): Promise<string | undefined> {
  return (await readAll(store, { limit: 100 })).at(-1);
}

/** Pets without a status and with each, in turn. */
async function addPets(store: Store, count: number): Promise<Pet[]> {
  const statuses = [{}, { status: 'available' }, { status: 'pending' }, { status: 'sold' }] as const;
  const pets: Pet[] = [];
  for (let index = 0; index < count; index++) {
    pets.push(await store.createPet({ name: `Pet ${index}`, categoryId: BigInt(index), ...statuses[index % 4] }));
  }
  return pets;
}

/** Names of up to 255 characters that together hold every code point but U+0000 and the surrogates. */
function unicodeNames(): string[] {
  const names: string[] = [];
  let name: string[] = [];
  for (let code = 1; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    name.push(String.fromCodePoint(code));
    if (name.length < 255 && code < 0x10ffff) continue;
    names.push(name.join(''));
    name = [];
  }
  return names;
}
