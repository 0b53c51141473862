/**
 * Times in various spellings, records without their first fields, and merge patches of nested objects, on both
 * databases.
 */
import t, { type Test } from 'tap';
import type { JsonText } from '../src/contract-first/json/json-text.ts';
import type { AnyCollection, Fields, PageQuery } from '../src/contract-first/store/collection.ts';
import { toCursor } from '../src/contract-first/store/cursors.ts';
import { domain } from './moments/domain.ts';
import { loadCodecs, transactions } from './moments/writing.ts';
import { idempotencyOf, onBoth } from './orders/shops.ts';

/** Different spellings of the same instant. */
const SPELLINGS = [
  '2026-01-01T18:30:00.000Z',
  '2026-01-01T18:30:00Z',
  '2026-01-02T00:00:00+05:30',
  '2026-01-02t00:00:00.0000+0530',
  '2026-01-01 18:30:00z',
];

type Moments = Record<keyof typeof domain, AnyCollection> & { store: Awaited<ReturnType<Open>>['store'] };
type Open = ReturnType<Parameters<Parameters<typeof onBoth>[1]>[1]>;

const listOf = async (all: AnyCollection, query: Fields): Promise<unknown> =>
  (await all.list({ limit: 9, ...query } as PageQuery))?.body.read();

function testMoments(t: Test, open: (t: Test) => Promise<Moments>): void {
  t.test('filters, ranges, conditions, ids and unique sets treat all spellings of an instant as equal', async (t) => {
    const { moments, marks } = await open(t);
    const [first, ...others] = SPELLINGS as [string, ...string[]];
    await marks.createAll(SPELLINGS.map((due) => ({ due })));
    t.match(await moments.create({ at: others[0], until: others[1] }), { at: first, until: first });
    for (const time of SPELLINGS) {
      t.match(await listOf(moments, { until: time }), [{ at: first }], time);
      t.match(await listOf(moments, { until: time, order: 'byTime' }), [{ at: first }], time);
      t.match(await listOf(moments, { until: { from: time } }), [{ at: first }], time);
      t.strictSame(await listOf(moments, { until: { below: time } }), [], time);
      t.equal(((await listOf(marks, { due: time })) as Fields[]).length, SPELLINGS.length, time);
      t.match((await moments.get(time))?.read(), { at: first }, time);
      t.match(await moments.update(time, { size: 1 }, { if: { until: time } }), { size: 1 }, time);
      t.match(await moments.create({ at: time }), { refused: 'exists' });
      t.match(await moments.create({ at: '2027-01-01T00:00:00Z', until: time }), { refused: 'until_taken' });
      t.match(await moments.put(time, { at: time }, { if: { until: time } }), { isNew: false });
      t.match(await moments.replace(time, { until: time }), { at: first, until: first });
    }
    t.equal(await moments.delete(SPELLINGS[2]), true);
    t.equal(await moments.get(SPELLINGS[0]), undefined);
  });

  t.test('a filter or an id of a time type finds no record if its value is not a time', async (t) => {
    const { moments, marks } = await open(t);
    await marks.create({ due: SPELLINGS[0] });
    await moments.create({ at: SPELLINGS[0] });
    for (const text of ['', 'now', '2026-01-01', '2026-01-01T18:30:00+00', '2026-02-30T00:00:00Z']) {
      t.strictSame(await listOf(marks, { due: text }), [], text);
      t.equal(await moments.get(text), undefined);
    }
  });

  t.test(
    'a list accepts its cursor with any spelling of the times in its filters; a cursor may also contain a time',
    async (t) => {
      const { moments, marks } = await open(t);
      const [first, other] = (await marks.createAll(SPELLINGS.map((due) => ({ due })))) as Fields[];
      const page = await marks.list({ limit: 1, due: SPELLINGS[1] } as PageQuery);
      t.match(page?.body.read(), [first]);
      for (const due of SPELLINGS)
        t.match((await listOf(marks, { limit: 1, due, after: page?.next })) as Fields[], [other], due);
      t.equal(await listOf(marks, { due: '2026-01-01T18:30:01Z', after: page?.next }), undefined);
      for (const at of SPELLINGS.slice(0, 1)) await moments.create({ at });
      const cursor = (place: string) => toCursor(1n, [undefined, undefined, 'byTime'], place);
      t.same(await listOf(moments, { order: 'byTime', after: cursor('2026-01-01T18:30:00.000Z') }), []);
      for (const place of ['x', '2026-01-01T18:30:00Z', '2026-01-01T18:30:00.000Z\0'])
        t.equal(await listOf(moments, { order: 'byTime', after: cursor(place) }), undefined, place);
    },
  );

  t.test('a range filter without bounds does not restrict the list, even together with another filter', async (t) => {
    const { moments } = await open(t);
    await moments.create({ at: SPELLINGS[0], size: 5 });
    const ranges = [{}, { from: undefined }, { from: undefined, below: undefined }];
    for (const range of ranges) {
      for (const query of [
        { size: range },
        { until: range },
        { size: range, until: range },
        { size: 5, until: range },
      ]) {
        t.match(await listOf(moments, query), [{ size: 5 }]);
        t.match(await listOf(moments, { ...query, order: 'byTime' }), [{ size: 5 }]);
      }
    }
    t.same(await listOf(moments, { size: { below: 5 } }), []);
  });

  t.test('a record that lacks optional fields is valid JSON, however it is read', async (t) => {
    const { moments, marks, store } = await open(t);
    const [at] = SPELLINGS as [string];
    const texts: string[] = [];
    const all: Fields[] = [
      {},
      { "it's": `it's "so"` },
      { isBig: false },
      { size: 1.5 },
      { "it's": '', size: 0 },
      { "it's": 'x', isBig: true, size: 1e21 },
    ];
    for (const [index, one] of all.entries()) {
      const record = { ...one, at: at.replace('2026', `${2027 + index}`), labels: null, revision: 1n };
      t.strictSame({ ...((await moments.create({ ...one, at: record.at })) as Fields) }, record);
      const text = (await moments.get(record.at))?.text as string;
      t.same((await moments.get(record.at))?.read(), record);
      t.same(Object.keys(JSON.parse(text)), Object.keys(record));
      texts.push(text);
    }
    t.equal((await moments.list({ limit: 9 }))?.body.text, `[${texts}]`);
    t.equal((await moments.list({ limit: 9, order: 'byTime' } as never))?.body.text, `[${texts}]`);
    t.match(await moments.update(at.replace('2026', '2027'), { "it's": 'new' }), { "it's": 'new', revision: 2n });
    t.match(await moments.update(at.replace('2026', '2028'), { "it's": null }), { revision: 2n });
    t.match(await marks.create({}), { id: 1n });
    t.equal((await marks.get(1n))?.text, '{"id":1}');
    t.equal((await marks.list({ limit: 9 }))?.body.text, '[{"id":1}]');
    t.match(await marks.replace(1n, { text: 'a' }), { text: 'a', id: 1n });
    const stored: Fields[] = [];
    await store.countInvalidRecords('another contract', (text) => stored.push(JSON.parse(text)) > 0);
    t.match(stored.slice(0, 2), [{ "it's": 'new', at: at.replace('2026', '2027') }, { revision: 2n }]);
    t.equal(stored.length, all.length + 1);
    t.equal(await store.countInvalidRecords('contract', (text) => JSON.parse(text) !== null), 0);
  });
}

function testPatches(t: Test, prepare: (t: Test) => () => Promise<Moments>): void {
  const AT = '2026-01-01T00:00:00.000Z';

  t.test(
    'an update merges objects at any depth; null removes a field, and any other value replaces the old value',
    async (t) => {
      const { moments } = await prepare(t)();
      const big = 2n ** 63n;
      await moments.create({ at: AT });
      const place = { zip: '1', at: { x: big, y: [1, { a: null }] }, ['__proto__']: 1 };
      const steps: [patch: Fields, place: unknown][] = [
        [{ place: { zip: '1', at: { x: big, y: [1, { a: null }], z: null }, n: null, ['__proto__']: 1 } }, place],
        [{ place: {} }, place],
        [
          { place: { at: { z: { deep: { deeper: true } }, w: undefined } } },
          { ...place, at: { ...place.at, z: { deep: { deeper: true } } } },
        ],
        [
          { place: { at: { z: { deep: { deeper: null, other: [] } } } } },
          { ...place, at: { ...place.at, z: { deep: { other: [] } } } },
        ],
        [{ place: { at: { y: [{}], z: null } } }, { ...place, at: { x: big, y: [{}] } }],
        [{ place: { at: 'here' } }, { ...place, at: 'here' }],
        [{ place: { at: { b: { c: null } } } }, { ...place, at: { b: {} } }],
        [{ place: { at: null, ['__proto__']: null } }, { zip: '1' }],
        [{ place: null }, undefined],
        [{ place: { zip: '2' } }, { zip: '2' }],
      ];
      for (const [index, [patch, expected]] of steps.entries()) {
        const done = (await moments.update(AT, patch)) as Fields;
        t.same(done.place, expected, `step ${index}`);
        t.same((await moments.get(AT))?.read(), done);
        t.equal(done.revision, BigInt(index + 2));
      }
      t.match(await moments.update(AT, { labels: { a: 1, b: null } }), { labels: { a: 1, b: undefined } });
      t.same(((await moments.update(AT, { labels: [null] })) as Fields).labels, [null]);
      t.same(((await moments.update(AT, { labels: null })) as Fields).labels, null);
      t.same(((await moments.replace(AT, { place: { zip: '3' } })) as Fields).place, { zip: '3' });
      t.equal(await moments.update('2027-01-01T00:00:00Z', { place: { zip: '1' } }), undefined);
    },
  );

  t.test(
    'no concurrent patch of a record is lost, and a patch that is repeated with its Idempotency-Key is made once',
    async (t) => {
      const open = prepare(t);
      const stores = [await open(), await open()] as [Moments, Moments];
      const [{ moments }] = stores;
      await moments.create({ at: AT, place: { zip: '1' } });
      const patches = Array.from({ length: 40 }, (_, index) => {
        const patch = { place: { [`field${index}`]: index, at: { [`inner${index}`]: { index } } } };
        return (stores[index % 2] as Moments).moments.update(AT, patch, {
          idempotency: idempotencyOf(`${index % 20}`),
        });
      });
      await Promise.all(patches);
      const text = (await moments.get(AT)) as JsonText<Fields>;
      const { place: merged, revision } = text.read() as { place: Fields; revision: bigint };
      t.equal(Object.keys(merged).length, 22);
      t.equal(Object.keys(merged.at as Fields).length, 20);
      t.equal(revision, 21n);
    },
  );

  t.test(
    "a patch that would break the record's schema is refused; the condition of the patch is checked first",
    async (t) => {
      const { moments } = await prepare(t)();
      const labels = { a: 1, b: 2, c: 3, d: 4 };
      await moments.create({ at: AT, place: { zip: '1' }, labels });
      const before = (await moments.get(AT))?.read();
      const unfit: Fields[] = [
        { place: { zip: null } },
        { place: { zip: 5, x: 1 }, "it's": 'new' },
        { labels: { e: 5, f: 6 } },
      ];
      for (const patch of unfit) {
        const [refused, done] = await Promise.all([moments.update(AT, patch), moments.update(AT, { size: 1 })]);
        t.match(refused, { refused: 'unfit' });
        t.match(done, { labels, place: { zip: '1' }, size: 1 });
        t.match(await moments.update(AT, patch, { if: { revision: 99n } }), { refused: 'changed' });
        t.match(await moments.update(AT, patch, { if: { size: 1 } }), { refused: 'unfit' });
        t.equal(await moments.update('2027-01-01T00:00:00Z', patch, { if: { size: 1 } }), undefined);
      }
      t.match((await moments.get(AT))?.read(), { ...before, size: 1, revision: 4n });
      t.match(await moments.update(AT, { labels: { a: null, e: 5 } }, { if: { revision: 4n } }), { revision: 5n });
      const once = { idempotency: idempotencyOf('once') };
      t.match(await moments.update(AT, { labels: { f: 6, g: 7 } }, once), { refused: 'unfit' });
      t.match(
        await moments.update(AT, { labels: { b: null, f: 6 } }, once),
        { labels: { f: 6 } },
        'the Idempotency-Key of the refused patch is still unused',
      );
      const { patchTwice } = moments as unknown as Record<string, (...values: unknown[]) => Promise<unknown>>;
      t.match(
        await patchTwice?.([AT, { place: { a: 1 } }, { place: { b: 2, zip: null } }, { place: { c: { d: 3 } } }]),
        [{ place: { zip: '1', a: 1 } }, { refused: 'unfit' }, { place: { zip: '1', a: 1, c: { d: 3 } } }],
      );
      await t.rejects(moments.replace(AT, { place: {} }), { message: /place.zip is missing/ });
    },
  );
}

onBoth(
  t,
  (t, prepare) => {
    const open = (t: Test) => {
      const next = prepare(t);
      return async () => (await next(domain)) as never as Moments;
    };
    testMoments(t, (t) => open(t)());
    testPatches(t, open);
  },
  { codecs: loadCodecs(), transactions },
);
