/** The tests that every store must pass, for any domain. The records are made from the domain's description. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parse, stringify } from 'lossless-json';
import type { Test } from 'tap';
import { makeKey, toStoredKey } from '../src/contract-first/store/api-keys.ts';
import {
  type AnyCollection,
  type Fields,
  type Idempotency,
  KeyReused,
  type PageQuery,
} from '../src/contract-first/store/collection.ts';
import { toCursor } from '../src/contract-first/store/cursors.ts';
import type { Store, StoredKey } from '../src/contract-first/store/store.ts';
import type { AnyDescription } from '../src/contract-first/store/tables/description.ts';
import { type Field, toTable } from '../src/contract-first/store/tables/table.ts';

/** A store of any domain, with one of its collections as `records`. */
export type AnyStore = Store & { records: AnyCollection };

/** An empty database, or an empty schema of one, for one test. */
export interface Place {
  /** Opens another store on the same database at each call. */
  open(): AnyStore | Promise<AnyStore>;
  /** Runs SQL in the database, as another program would. */
  execute(sql: string): void | Promise<void>;
  /** Returns the number of rows of a table. */
  count(table: string): number | Promise<number>;
}

export interface StoreKind {
  prepare(t: Test): Place;
  /** True if several stores of a place share its records. */
  isShared: boolean;
}

type Stored = Fields & { id: bigint };

const ONCE: Idempotency = { caller: 'Ada', operation: 'create', key: 'first', hours: 24, digest: '' };
const MOST = 2n ** 63n - 1n;

/** The number of different values that filtered fields have. */
const GROUPS = 4;

const TEXTS = [
  '"\\/\b\f\n\r\t\u007f\u0080\u2028\u2029\ufeff\uffff',
  "'; DROP TABLE pets; --",
  '{"id":1}',
  ...['null', '7', '', ' ', '\\u0041', '$1 ? :name %s', 'é', 'e\u0301', 'ß', 'SS', '🐕'.repeat(255), '👩‍👩‍👧‍👦'],
];

/** Extreme values of each type. */
const EDGES: Record<Field['type'], unknown[]> = {
  int64: [0n, -1n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, MOST, -MOST - 1n],
  text: TEXTS,
  uuid: TEXTS,
  time: ['2026-01-01T00:00:00.000Z'],
  int32: [0, -1, 2 ** 31 - 1, -(2 ** 31)],
  number: [0, 5, -1.5, 0.1 + 0.2, 1e21, 1e-7, 5e-324, Number.MAX_VALUE, -Number.MAX_VALUE],
  boolean: [true, false],
  json: [[], TEXTS, ['a\0b'], [MOST, 0.1 + 0.2, true, null], { b: 1, a: [{}] }, 'a\0b', 7n],
};

const sampleOf = (type: Field['type'], number: number): unknown =>
  ({
    int64: BigInt(number),
    text: `Text ${number}`,
    uuid: `Id ${number}`,
    time: new Date(number).toISOString(),
    int32: number,
    number: number + 0.5,
    boolean: number % 2 === 1,
    json: [`a ${number}`, number],
  })[type];

export function testStore(t: Test, kind: StoreKind, domain: AnyDescription): void {
  const { prepare, isShared } = kind;
  const {
    openOne,
    make,
    add,
    toText,
    pageOf,
    readAll,
    lastOf,
    fields,
    filters,
    texts: textFields,
  } = toolsFor(domain, kind);

  t.test('each new record gets its own id, which is higher than all earlier ids', async (t) => {
    const { records } = await openOne(t);
    const ids = (await add(records, 5)).map(({ id }) => id);
    t.ok((ids[0] as bigint) > 0n);
    t.strictSame(ids, [...new Set(ids)].sort(ascending));
  });

  t.test('a create returns the record with its id, and reading the record later returns the same', async (t) => {
    const { records } = await openOne(t);
    for (let index = 0; index < 3 * GROUPS; index++) {
      const record = make(index);
      const created = await records.create(record);
      t.strictSame(created, { id: created.id, ...record });
      t.equal((await records.get(created.id as bigint))?.text, toText(created));
      t.equal(await lastOf(records), toText(created));
    }
  });

  t.test(
    'a field that is undefined equals a missing field; the created record omits fields that have no column',
    async (t) => {
      const { records } = await openOne(t);
      const absent = fields.filter(({ isOptional }) => isOptional).map(({ name }) => [name, undefined]);
      const created = await records.create({ ...make(1), ...Object.fromEntries(absent), unknown: 'T' });
      for (const [name] of absent) t.notOk((name as string) in created);
      t.notOk('unknown' in created);
      t.equal((await records.get(created.id as bigint))?.text, toText(created));
    },
  );

  t.test('a record keeps the value of each field exactly, to the last digit or character', async (t) => {
    const { records } = await openOne(t);
    for (const { name, type, isNullable } of fields) {
      for (const value of [...EDGES[type], ...(isNullable ? [null] : [])]) {
        const created = await records.create({ ...make(1), [name]: value });
        t.strictSame(created[name], value);
        const text = (await records.get(created.id as bigint))?.text as string;
        // The two texts may differ, because PostgreSQL prints numbers in another notation.
        t.equal(stringify(parse(text, null, toExact)), stringify(parse(toText(created), null, toExact)), name);
        t.equal(await lastOf(records), text);
      }
    }
  });

  t.test(
    'every Unicode character that is stored is read unchanged, and written as a JSON serializer writes it',
    async (t) => {
      const { records } = await openOne(t);
      const name = textFields[0]?.name as string;
      const made = await Promise.all(unicodeTexts().map((text) => records.create({ ...make(1), [name]: text })));
      const texts = await readAll(records, { limit: 100 });
      // Compared here instead of by tap, because tap would print these long texts if they differ.
      t.ok(texts.join() === (made as Stored[]).sort(byId).map(toText).join());
    },
  );

  t.test('get returns undefined for a missing record, even at both ends of the id range', async (t) => {
    const { records } = await openOne(t);
    const [{ id }] = await add(records, 1);
    for (const other of [id + 1n, id - 1n, 0n, -id, MOST, -MOST - 1n]) t.equal(await records.get(other), undefined);
  });

  t.test('a list of no records is an empty page without a next cursor', async (t) => {
    const { records } = await openOne(t);
    t.strictSame(await pageOf(records, { limit: 1 }), { text: '[]', next: undefined });
    for (const { name, type } of filters) {
      t.strictSame(await pageOf(records, { limit: 100, [name]: sampleOf(type, 1) }), { text: '[]', next: undefined });
    }
  });

  t.test(
    'a page contains at most `limit` records by ascending id, and a next cursor if more records follow',
    async (t) => {
      const { records } = await openOne(t);
      const made = await add(records, 6);
      const texts = made.map(toText);
      const cursors = made.map(({ id }) => toCursor(id));
      const page = (from: number, to: number) => `[${texts.slice(from, to)}]`;
      t.strictSame(await pageOf(records, { limit: 5 }), { text: page(0, 5), next: cursors[4] });
      t.strictSame(await pageOf(records, { limit: 6 }), { text: page(0, 6), next: undefined });
      t.strictSame(await pageOf(records, { limit: 7 }), { text: page(0, 6), next: undefined });
      t.strictSame(await pageOf(records, { limit: 2, after: cursors[1] }), { text: page(2, 4), next: cursors[3] });
      t.strictSame(await pageOf(records, { limit: 2, after: cursors[3] }), { text: page(4, 6), next: undefined });
      t.strictSame(await pageOf(records, { limit: 2, after: cursors[4] }), { text: page(5, 6), next: undefined });
      t.strictSame(await pageOf(records, { limit: 2, after: cursors[5] }), { text: '[]', next: undefined });
      t.strictSame(await pageOf(records, { limit: 2, after: toCursor(MOST) }), { text: '[]', next: undefined });
      t.strictSame(await pageOf(records, { limit: 6, after: toCursor(-MOST - 1n) }), {
        text: page(0, 6),
        next: undefined,
      });
    },
  );

  t.test(
    'filters, alone or combined, restrict a list; the cursors of a filtered list work only with the same filters',
    async (t) => {
      const { records } = await openOne(t);
      const made = await add(records, 3 * GROUPS);
      for (const used of [...filters.map((filter) => [filter]), filters]) {
        for (const example of made.slice(0, GROUPS)) {
          const values = Object.fromEntries(used.map(({ name }) => [name, example[name]]));
          if (Object.values(values).includes(undefined)) continue;
          const same = made.filter((record) => used.every(({ name }) => record[name] === values[name]));
          const first = await pageOf(records, { limit: 2, ...values });
          t.strictSame(first.text, `[${same.slice(0, 2).map(toText)}]`);
          t.strictSame(await pageOf(records, { limit: 100, ...values, after: first.next }), {
            text: `[${same.slice(2).map(toText)}]`,
            next: undefined,
          });
          t.equal(await records.list({ limit: 2, after: first.next }), undefined);
          t.equal(await records.list({ limit: 2, ...values, after: toCursor(1n) }), undefined);
          t.strictSame(await readAll(records, { limit: 1, ...values }), same.map(toText));
        }
      }
      for (const after of ['', '1', 'AAAA', 'MQ', `${toCursor(1n)}=`, toCursor(2n ** 63n)])
        t.equal(await records.list({ limit: 2, after }), undefined);
    },
  );

  t.test('the pages of a list together contain each record once, with any limit', async (t) => {
    const { records } = await openOne(t);
    const texts = (await add(records, 25)).map(toText);
    for (const limit of [1, 2, 5, 24, 25, 26, 100]) t.strictSame(await readAll(records, { limit }), texts);
  });

  t.test('records that are created concurrently are all stored, each with its own id', async (t) => {
    const { records } = await openOne(t);
    const made = await Promise.all(Array.from({ length: 1000 }, (_, index) => records.create(make(index))));
    t.strictSame(
      made.map(({ id: _, ...record }) => record),
      made.map((_, index) => make(index)),
    );
    t.equal(new Set(made.map(({ id }) => id)).size, 1000);
    t.strictSame(await readAll(records, { limit: 100 }), (made as Stored[]).sort(byId).map(toText));
  });

  t.test(
    'a record is in the list as soon as its create has returned, even while other records are being created',
    async (t) => {
      const { records } = await openOne(t);
      const misses: unknown[] = [];
      const createAndFind = async () => {
        for (let count = 0; count < 20; count++) {
          const { id } = await records.create(make(1));
          const page = await records.list({ limit: 1000 });
          if (!page?.body.text.includes(`{"id":${id},`)) misses.push(id);
        }
      };
      await Promise.all(Array.from({ length: 50 }, createAndFind));
      t.strictSame(misses, []);
    },
  );

  t.test('a replaced record keeps its id and has only the new values; a deleted record is not found', async (t) => {
    const { records } = await openOne(t);
    const made = await add(records, 4);
    const [first, second] = made.map(({ id }) => id) as [bigint, bigint];
    for (const record of [make(7), make(0), make(GROUPS + 1)]) {
      t.strictSame(toPlain(await records.replace(second, record)), { id: second, ...record });
      t.equal((await records.get(second))?.text, toText({ id: second, ...record }));
    }
    t.equal(await records.delete(first), true);
    t.equal(await records.delete(first), false);
    t.equal(await records.replace(first, make(1)), undefined);
    t.equal(await records.get(first), undefined);
    const rest = [{ id: second, ...make(GROUPS + 1) }, ...made.slice(2)];
    t.strictSame(await readAll(records, { limit: 100 }), rest.map(toText));
    const last = made.at(-1)?.id as bigint;
    await records.delete(last);
    t.ok(((await records.create(make(1))).id as bigint) > last);
  });

  t.test(
    'concurrent edits of a record are made one after the other, in the order in which they were called',
    async (t) => {
      const { records } = await openOne(t);
      const [{ id }] = await add(records, 1);
      const edits = [1, 2].map((index) => records.replace(id, make(index)));
      const done = await Promise.all([...edits, records.delete(id), records.replace(id, make(3)), records.delete(id)]);
      t.strictSame(done.map(toPlain), [{ id, ...make(1) }, { id, ...make(2) }, true, undefined, false]);
      t.equal(await records.get(id), undefined);
    },
  );

  t.test(
    'a create repeated with its Idempotency-Key gets the first answer; the same key with another record is an error',
    async (t) => {
      const { records } = await openOne(t);
      const record = make(1);
      const created = await createOnce(records, record, ONCE);
      t.match(created, { isReplayed: false, record });
      const reordered = Object.fromEntries(Object.entries(record).reverse());
      for (const same of [record, reordered]) {
        t.strictSame(await createOnce(records, same, ONCE), { ...created, isReplayed: true });
      }
      t.equal(await createOnce(records, make(2), ONCE), undefined);
      const others = [
        { ...ONCE, key: 'FIRST' },
        { ...ONCE, caller: 'Ben' },
        { ...ONCE, operation: 'createAnother' },
        { ...ONCE, key: `'"\\; ${'~'.repeat(240)}` },
      ];
      for (const idempotency of others) t.match(await createOnce(records, record, idempotency), { isReplayed: false });
      t.equal((await readAll(records, { limit: 100 })).length, 1 + others.length);
    },
  );

  t.test('concurrent creates with the same Idempotency-Key create one record, and all of them return it', async (t) => {
    const { records } = await openOne(t);
    const creates = Array.from({ length: 400 }, async (_, index) => {
      if (index >= 200) return records.create(make(index));
      const key = `key ${index % 20}`;
      return (await createOnce(records, make(index % 20), { ...ONCE, key }))?.record as Fields;
    });
    const made = (await Promise.all(creates)) as Stored[];
    for (const [index, record] of made.slice(0, 200).entries()) t.strictSame(record, made[index % 20]);
    const all = [...made.slice(0, 20), ...made.slice(200)].sort(byId);
    t.strictSame(await readAll(records, { limit: 100 }), all.map(toText));
    const others = [make(1), make(1), make(2), make(1)].map((record) => createOnce(records, record, ONCE));
    t.strictSame(
      (await Promise.all(others)).map((created) => created?.isReplayed),
      [false, true, undefined, true],
    );
  });

  t.test('after an Idempotency-Key has expired, it may be used for another record', async (t) => {
    const { records } = await openOne(t);
    for (const record of [make(1), make(1), make(2)]) {
      t.match(await createOnce(records, record, { ...ONCE, hours: 0 }), { isReplayed: false, record });
    }
    t.equal((await readAll(records, { limit: 100 })).length, 3);
  });

  t.test(
    'the store counts records that do not fit a contract; once all fit, it does not read them again for this contract',
    async (t) => {
      const store = await openOne(t);
      const texts = (await add(store.records, 8)).map(toText);
      let seen: string[] = [];
      const isNotFirst = (text: string) => seen.push(text) > 0 && text !== texts[0];
      for (let count = 0; count < 2; count++) {
        seen = [];
        t.equal(await store.countInvalidRecords('first', isNotFirst), 1);
        t.strictSame(seen.sort(), [...texts].sort());
      }
      for (const [contract, read] of [
        ['second', 8],
        ['second', 0],
        ['third', 8],
        ['second', 8],
      ] as const) {
        seen = [];
        t.equal(await store.countInvalidRecords(contract, (text) => seen.push(text) > 0), 0);
        t.equal(seen.length, read, contract);
      }
    },
  );

  t.test('the list of API keys contains all their stored values, the oldest key first', async (t) => {
    const store = await openOne(t);
    const keys = [
      { ...toStoredKey(makeKey('petstore'), 'second'), createdAt: '2026-01-02T00:00:00.000Z' },
      { ...toStoredKey(makeKey('petstore'), 'first', new Date()), createdAt: '2026-01-01T00:00:00.000Z' },
      {
        ...toStoredKey(makeKey('petstore'), "th'ird 🔑", undefined, undefined, '100/s'),
        createdAt: '2026-01-03T00:00:00.000Z',
      },
    ];
    t.strictSame(await store.listKeys(), []);
    for (const key of keys) await store.createKey(key);
    t.same(await store.listKeys(), [keys[1], keys[0], keys[2]]);
  });

  t.test(
    'a replaced API key ends at the given time or at its own earlier one; the new key is valid immediately',
    async (t) => {
      const store = await openOne(t);
      const key = {
        ...toStoredKey(makeKey('petstore'), 'Ada', new Date('2026-01-09')),
        scopes: ['pets:read', 'pets:write'],
      };
      const next = { ...toStoredKey(makeKey('petstore'), 'Ada'), scopes: [] };
      const last = toStoredKey(makeKey('petstore'), 'Ada');
      await store.createKey(key);
      t.equal(await store.replaceKey(key.id, next, '2026-01-10T00:00:00.000Z'), true);
      t.equal(await store.replaceKey(next.id, last, '2026-01-11T00:00:00.000Z'), true);
      t.equal(
        await store.replaceKey('unknown', toStoredKey(makeKey('petstore'), 'Ben'), '2026-01-12T00:00:00.000Z'),
        false,
      );
      await store.revokeKey(last.id, '2026-01-01T00:00:00.000Z');
      t.equal(
        await store.replaceKey(last.id, toStoredKey(makeKey('petstore'), 'Ben'), '2026-01-12T00:00:00.000Z'),
        false,
      );
      const ends = new Map((await store.listKeys()).map(({ id, expiresAt, scopes }) => [id, { expiresAt, scopes }]));
      t.same(
        ends,
        new Map([
          [key.id, { expiresAt: '2026-01-09T00:00:00.000Z', scopes: ['pets:read', 'pets:write'] }],
          [next.id, { expiresAt: '2026-01-11T00:00:00.000Z', scopes: [] }],
          [last.id, { expiresAt: undefined, scopes: undefined }],
        ]),
      );
    },
  );

  t.test('an API key is revoked only once, and the list of keys shows the time of its revocation', async (t) => {
    const store = await openOne(t);
    const key = toStoredKey(makeKey('petstore'), 'Ada');
    const other = toStoredKey(makeKey('petstore'), 'Ben');
    await store.createKey(key);
    await store.createKey(other);
    t.equal(await store.revokeKey(key.id, '2026-01-01T00:00:00.000Z'), true);
    t.equal(await store.revokeKey(key.id, '2026-01-02T00:00:00.000Z'), false);
    t.equal(await store.revokeKey('unknown', '2026-01-01T00:00:00.000Z'), false);
    const revoked = Object.fromEntries((await store.listKeys()).map(({ id, revokedAt }) => [id, revokedAt]));
    t.strictSame(revoked, { [key.id]: '2026-01-01T00:00:00.000Z', [other.id]: undefined });
  });

  t.test('a second read of the API keys returns only keys that have changed since the first read', async (t) => {
    const store = await openOne(t);
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => toStoredKey(makeKey('petstore'), name)) as [
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

  t.test('the store keeps the latest time at which each API key was used', async (t) => {
    const place = prepare(t);
    const store = await openOne(t, place);
    const use = (keyId: string, day: number) => ({ keyId, usedAt: `2026-01-0${day}T00:00:00.000Z` });
    t.strictSame(await store.listUses(), []);
    await store.addUses([use('b', 2), use("a'🔑", 1)]);
    await store.addUses([use("a'🔑", 3), use('b', 1), use('c', 1)]);
    while ((await store.listUses()).length < 3) await nextTurn();
    t.same(await store.listUses(), [use("a'🔑", 3), use('b', 2), use('c', 1)]);
    if (!isShared) return;
    await store.addUses([use('d', 1)]);
    await store.close();
    t.match((await (await openOne(t, place)).listUses()).at(-1), { keyId: 'd' });
  });

  t.test('a store that works passes its health check', async (t) => {
    const store = await openOne(t);
    await t.resolves(async () => store.check());
  });

  t.test('closing a store waits until its writes in progress are done', async (t) => {
    const store = await prepare(t).open();
    const made = Promise.all(Array.from({ length: 100 }, () => store.records.create(make(1))));
    await store.close();
    t.equal(new Set((await made).map(({ id }) => id)).size, 100);
  });

  t.test('closing a store a second time does no harm', async (t) => {
    const store = await openOne(t);
    await store.records.create(make(1));
    await store.close();
    await t.resolves(async () => store.close());
  });

  if (isShared) testSharing(t, kind, domain);
}

/** Tests several stores on the same database. */
export function testSharing(t: Test, kind: StoreKind, domain: AnyDescription): void {
  const { prepare } = kind;
  const { openOne, make, add, toText, readAll, lastOf, filters, texts: textFields } = toolsFor(domain, kind);
  const { table } = domain;

  t.test(
    'a store sees records, edits, API keys and revocations that another store on the same database has made',
    async (t) => {
      const place = prepare(t);
      const writer = await openOne(t, place);
      const reader = await openOne(t, place);
      const expect = async (record: Fields) => {
        // Another process sees a record only in a later turn of its event loop than the one in which the record was
        // written.
        await nextTurn();
        t.equal((await reader.records.get(record.id as bigint))?.text, toText(record));
        t.equal(await lastOf(reader.records), toText(record));
      };
      for (let count = 0; count < 20; count++) {
        const created = await writer.records.create(make(count));
        await expect(created);
        await expect((await writer.records.replace(created.id, make(count + 1))) as Fields);
        if (count % 2) await writer.records.delete(created.id as bigint);
      }
      await nextTurn();
      t.equal((await readAll(reader.records, { limit: 3 })).length, 10);
      const key = toStoredKey(makeKey('petstore'), 'Ada');
      const version = (await reader.readKeys()).version;
      await writer.createKey(key);
      t.not((await reader.readKeys()).version, version);
      t.same(await reader.listKeys(), [key]);
      await writer.revokeKey(key.id, '2026-01-01T00:00:00.000Z');
      t.same(await reader.listKeys(), [{ ...key, revokedAt: '2026-01-01T00:00:00.000Z' }]);
    },
  );

  t.test('records whose creates are in progress when the store is closed are still stored', async (t) => {
    const place = prepare(t);
    const store = await place.open();
    const made = Promise.all(Array.from({ length: 100 }, () => store.records.create(make(1))));
    await store.close();
    const { records } = await openOne(t, place);
    t.strictSame(await readAll(records, { limit: 100 }), ((await made) as Stored[]).sort(byId).map(toText));
  });

  t.test('lists and gets immediately show records that another program adds, changes or deletes', async (t) => {
    const place = prepare(t);
    const { records } = await openOne(t, place);
    let known: Stored[] = await add(records, 6);
    const [first, second] = known.map(({ id }) => id) as [bigint, bigint];
    const last = known.at(-1)?.id;
    const [filter] = filters as [Field];
    const { name, column } = textFields.find((field) => field !== filter) as Field;
    const change = (id: bigint, fields: Fields) => known.map((one) => (one.id === id ? { ...one, ...fields } : one));
    const moved = { id: first + 100n };
    const edits: [sql: string, after: () => Stored[]][] = [
      [`UPDATE ${table} SET ${column} = 'Abe' WHERE id = ${first}`, () => change(first, { [name]: 'Abe' })],
      [
        `UPDATE ${table} SET ${filter.column} = (SELECT ${filter.column} FROM ${table} WHERE id = ${second}) WHERE id = ${first}`,
        () => change(first, { [filter.name]: known[1]?.[filter.name] }),
      ],
      [`DELETE FROM ${table} WHERE id = ${second}`, () => known.filter(({ id }) => id !== second)],
      [`DELETE FROM ${table} WHERE id = ${last}`, () => known.filter(({ id }) => id !== last)],
      [`UPDATE ${table} SET id = ${moved.id} WHERE id = ${first}`, () => change(first, moved).sort(byId)],
      [`DELETE FROM ${table}`, () => []],
    ];
    const value = known[1]?.[filter.name];
    for (const [sql, after] of edits) {
      const before = known;
      await place.execute(sql);
      known = after();
      await nextTurn();
      const filtered = known.filter((one) => one[filter.name] === value);
      for (const limit of [2, 100]) {
        t.strictSame(await readAll(records, { limit }), known.map(toText), sql);
        t.strictSame(await readAll(records, { limit, [filter.name]: value }), filtered.map(toText), sql);
      }
      for (const { id } of before) {
        const now = known.find((one) => one.id === id);
        t.equal((await records.get(id))?.text, now && toText(now));
      }
    }
  });

  t.test(
    'two stores that create a record with one Idempotency-Key at the same time create one record, and both return it',
    async (t) => {
      const place = prepare(t);
      const stores = [await openOne(t, place), await openOne(t, place)] as const;
      const createAll = (key: string) => stores.map(({ records }) => createOnce(records, make(1), { ...ONCE, key }));
      const made = await Promise.all(Array.from({ length: 100 }, (_, key) => Promise.all(createAll(String(key)))));
      for (const [one, other] of made) {
        t.strictSame([one?.record, [one?.isReplayed, other?.isReplayed].sort()], [other?.record, [false, true]]);
      }
      t.equal((await readAll(stores[0].records, { limit: 100 })).length, 100);
    },
  );

  t.test(
    'a create repeated with its Idempotency-Key returns the created record, even if it was edited or deleted meanwhile',
    async (t) => {
      const { records } = await openOne(t);
      const created = await createOnce(records, make(1), ONCE);
      const id = created?.record.id as bigint;
      for (const edit of [() => records.replace(id, make(2)), () => records.delete(id)]) {
        await edit();
        t.strictSame(await createOnce(records, make(1), ONCE), { ...created, isReplayed: true });
      }
      t.strictSame(await readAll(records, { limit: 100 }), []);
    },
  );

  t.test(
    'the store gradually deletes expired Idempotency-Keys when new ones arrive, and keeps those that are still valid',
    async (t) => {
      const place = prepare(t);
      const { records } = await openOne(t, place);
      const createOne = (caller: string, key: number, hours: number) =>
        createOnce(records, make(1), { ...ONCE, caller, key: String(key), hours });
      const createAll = (caller: string, count: number, hours: number) =>
        Promise.all(Array.from({ length: count }, (_, key) => createOne(caller, key, hours)));
      await createAll('old', 100, 0);
      await createAll('new', 1, 24);
      const counts = [Number(await place.count('idempotency_keys'))];
      for (let key = 0; key < 100; key++) {
        await createOne('newer', key, 24);
        counts.push(Number(await place.count('idempotency_keys')));
      }
      t.strictSame(
        counts.filter((count, index) => index > 0 && Math.abs(count - (counts[index - 1] as number)) > 1),
        [],
      );
      t.equal(counts.at(-1), 101);
      t.match(await createAll('new', 1, 24), [{ isReplayed: true }]);
    },
  );

  t.test('Idempotency-Keys with a long lifetime do not delay the deletion of expired keys', async (t) => {
    const place = prepare(t);
    const { records } = await openOne(t, place);
    const createAll = async (caller: string, count: number, hours: number) => {
      for (let key = 0; key < count; key++)
        await createOnce(records, make(1), { ...ONCE, caller, key: `${key}`, hours });
    };
    await createAll('long', 10, 720);
    await createAll('old', 50, 0);
    await createAll('new', 50, 24);
    t.equal(Number(await place.count('idempotency_keys')), 60);
  });

  t.test('two stores that edit the same records at the same time make the edits one after the other', async (t) => {
    const place = prepare(t);
    const stores = [await openOne(t, place), await openOne(t, place)] as const;
    const ids = (await add(stores[0].records, 300)).map(({ id }) => id);
    // If the test process is paused during a transaction, PostgreSQL closes the connection (25P03), and nothing is
    // changed.
    const replace = (
      records: (typeof stores)[0]['records'],
      id: (typeof ids)[number],
      round: number,
    ): Promise<unknown> =>
      Promise.resolve(records.replace(id, make(round))).catch((error) => {
        if (error.cause?.code !== '25P03') throw error;
        return replace(records, id, round);
      });
    for (let round = 0; round < 10; round++) {
      const edits = stores.flatMap(({ records }, index) =>
        (index ? ids.toReversed() : ids).map((id) => replace(records, id, round)),
      );
      t.equal((await Promise.all(edits)).filter((record) => record === undefined).length, 0);
    }
  });

  t.test('two stores that create records at the same time never give the same id', async (t) => {
    const place = prepare(t);
    const stores = [await openOne(t, place), await openOne(t, place)] as const;
    const made = await Promise.all(
      stores.flatMap(({ records }) => Array.from({ length: 200 }, () => records.create(make(1)))),
    );
    t.equal(new Set(made.map(({ id }) => id)).size, 400);
    t.strictSame(await readAll(stores[0].records, { limit: 100 }), (made as Stored[]).sort(byId).map(toText));
  });

  t.test('records survive closing and reopening the store, and records created afterwards get new ids', async (t) => {
    const place = prepare(t);
    const texts: string[] = [];
    for (let count = 0; count < 3; count++) {
      const store = await place.open();
      texts.push(toText(await store.records.create(make(1))));
      t.strictSame(await readAll(store.records, { limit: 100 }), texts);
      await store.close();
    }
    t.equal(new Set(texts).size, 3);
  });

  t.test(
    'once all ids are used up, every create fails with a clear error, and everything else still works',
    async (t) => {
      const place = prepare(t);
      const store = await openOne(t, place);
      const { records } = store;
      // One statement for each database. The other one fails.
      const raise = [
        `INSERT INTO sqlite_sequence (name, seq) VALUES ('${domain.table}', ${MOST - 2n})`,
        `SELECT setval('${domain.table}_id_seq', ${MOST - 2n})`,
      ];
      await Promise.any(raise.map(async (sql) => place.execute(sql)));
      const [{ id }] = await add(records, 1);
      t.equal(id, MOST - 1n);
      const creates = await Promise.allSettled([1, 2, 3, 4].map((index) => records.create(make(index))));
      const outcomes = creates.map((one) => (one.status === 'rejected' ? one.reason.kind : one.status));
      t.ok(outcomes.filter((outcome) => outcome === 'ids_used_up').length >= 3, outcomes.join());
      for (const create of [() => records.create(make(1)), () => createOnce(records, make(1), ONCE)]) {
        t.match(await Promise.allSettled([create()]), [{ reason: { kind: 'ids_used_up' } }]);
      }
      t.strictSame(toPlain(await records.replace(id, make(2))), { id, ...make(2) });
      t.equal(await records.delete(id), true);
      await store.check();
    },
  );
}

/** Builds the functions with which the tests make and read records of a domain. */
export function toolsFor(domain: AnyDescription, { prepare }: Pick<StoreKind, 'prepare'>) {
  const { newFields: fields, filters } = toTable(domain);

  /**
   * Makes a record. Optional fields are sometimes absent, nullable fields sometimes null, and filtered fields have few
   * different values.
   */
  function make(index: number): Fields {
    const record: Fields = {};
    for (const field of fields) {
      const number = filters.includes(field) ? index % GROUPS : index;
      if (field.isOptional && index % GROUPS === 0) continue;
      record[field.name] = field.isNullable && index % 3 === 1 ? null : sampleOf(field.type, number);
    }
    return record;
  }

  async function add(records: AnyCollection, count: number): Promise<[Stored, ...Stored[]]> {
    const made: Fields[] = [];
    for (let index = 1; index <= count; index++) made.push(await records.create(make(index)));
    return made as [Stored, ...Stored[]];
  }

  /** Prints a record as the server does, with its fields in the order of the description. */
  const toText = (record: Fields) =>
    stringify(
      Object.fromEntries(['id', ...fields.map(({ name }) => name)].map((name) => [name, record[name]])),
    ) as string;

  async function pageOf(records: AnyCollection, query: PageQuery) {
    const { body, next } = (await records.list(query)) as { body: { text: string }; next?: string };
    return { text: body.text, next };
  }

  /** Returns the records of all pages, each as one text. */
  async function readAll(records: AnyCollection, query: PageQuery): Promise<string[]> {
    const texts: string[] = [];
    for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
      const { text, next }: { text: string; next: string | undefined } = await pageOf(records, { ...query, after });
      if (text !== '[]') texts.push(...text.slice(1, -1).split(/,(?=\{"id":)/));
      after = next;
    }
    return texts;
  }

  /** Returns the newest record, as the list shows it. */
  const lastOf = async (records: AnyCollection) => (await readAll(records, { limit: 100 })).at(-1);

  /** Opens a store, which is closed at the end of the test. */
  async function openOne(t: Test, place = prepare(t)): Promise<AnyStore> {
    const store = await place.open();
    t.teardown(() => store.close());
    return store;
  }

  const texts = fields.filter(({ type }) => type === 'text');
  return { fields, filters, texts, make, add, toText, pageOf, readAll, lastOf, openOne };
}

/**
 * Creates a record with an Idempotency-Key; undefined if the key was used for another record. The digest is that of the
 * record.
 */
async function createOnce(records: AnyCollection, record: Fields, idempotency: Idempotency) {
  const fields = Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1));
  const sent = { ...idempotency, digest: stringify(fields) as string };
  try {
    return {
      record: toPlain(await records.create(record, { idempotency: sent })) as Fields,
      isReplayed: sent.isReplayed,
    };
  } catch (error) {
    if (error instanceof KeyReused) return undefined;
    throw error;
  }
}

/** Copies an object, because parsed JSON objects have no prototype. */
const toPlain = (record: unknown) => (typeof record === 'object' ? { ...record } : record);

const ascending = (a: bigint, b: bigint) => (a < b ? -1 : 1);
const byId = (a: Stored, b: Stored) => ascending(a.id, b.id);

/** Reads a number so that equal numbers are equal, in whichever notation they are written. */
const toExact = (digits: string) => (/^-?\d{16,}$/.test(digits) ? BigInt(digits) : Number(digits));

/** Returns texts of up to 255 characters that together contain every code point except U+0000 and the surrogates. */
function unicodeTexts(): string[] {
  const texts: string[] = [];
  let text: string[] = [];
  for (let code = 1; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    text.push(String.fromCodePoint(code));
    if (text.length < 255 && code < 0x10ffff) continue;
    texts.push(text.join(''));
    text = [];
  }
  return texts;
}
