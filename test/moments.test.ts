/** Times however they are spelled, records whose first fields are absent, and changes within a field, on both databases. */
import t, { type Test } from 'tap';
import type { AnyCollection, Fields, PageQuery } from '../src/store/collection.ts';
import { toCursor } from '../src/store/cursors.ts';
import type { Part } from '../src/store/store.ts';
import { domain } from './moments/domain.ts';
import { onBoth } from './orders/shops.ts';

/** One instant. */
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
  t.test(
    'filters, ranges, conditions, ids and unique fields compare instants, however a time is spelled',
    async (t) => {
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
    },
  );

  t.test('a text that is no time is that of no record', async (t) => {
    const { moments, marks } = await open(t);
    await marks.create({ due: SPELLINGS[0] });
    await moments.create({ at: SPELLINGS[0] });
    for (const text of ['', 'now', '2026-01-01', '2026-01-01T18:30:00+00', '2026-02-30T00:00:00Z']) {
      t.strictSame(await listOf(marks, { due: text }), [], text);
      t.equal(await moments.get(text), undefined);
    }
  });

  t.test(
    'a cursor goes on for each spelling of the times that its list is filtered by, and is a time itself',
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

  t.test('a range without an end restricts nothing, also where the field is filtered by a value', async (t) => {
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

  t.test('an import stores instants', async (t) => {
    const { marks, store } = await open(t);
    async function* parts(): AsyncGenerator<Part<Fields>> {
      yield { collection: 'marks', records: SPELLINGS.map((due, index) => ({ id: BigInt(index + 1), due })) };
    }
    await store.writeContents(parts(), 'contract');
    t.equal(((await listOf(marks, { due: SPELLINGS[2] })) as Fields[]).length, SPELLINGS.length);
  });

  t.test('a record whose first fields are absent is JSON wherever it is read, and so is one without any', async (t) => {
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
    const exported: Fields[] = [];
    for await (const { records = [] } of store.readContents()) exported.push(...records.map((text) => text.read()));
    t.match(exported.slice(0, 2), [{ "it's": 'new', at: at.replace('2026', '2027') }, { revision: 2n }]);
    t.equal(exported.length, all.length + 1);
    t.equal(await store.countInvalidRecords('contract', (text) => JSON.parse(text) !== null), 0);
  });
}

onBoth(t, (t, prepare) => testMoments(t, async (t) => (await prepare(t)(domain)) as never), {});
