/**
 * Compares lists in random orders, with filters, ranges, skips and counts, with a sort in memory, on both databases.
 */
import t, { type Test } from 'tap';
import { type AnyCollection, type Fields, InvalidValue } from '../src/contract-first/store/collection.ts';
import { DIALECT } from '../src/contract-first/store/sqlite/drive.ts';
import type { AnyDescription } from '../src/contract-first/store/tables/description.ts';
import { toIndexSql, toWantedIndexes } from '../src/contract-first/store/tables/indexes.ts';
import { toTable } from '../src/contract-first/store/tables/table.ts';
import { type Open, onBoth } from './orders/shops.ts';

const RUNS = Number(process.env.RUNS ?? 60);
const SEED = Number(process.env.SEED ?? 71);
const ORDERS = 40;
const RECORDS = 60;
const MOST = 2n ** 63n - 1n;

/** Returns a function that makes numbers from 0 to below 1, always the same ones for a seed. */
function buildRandom(seed: number) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    const mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number) => Math.floor(next() * count);
  const oneOf = <One>(all: readonly One[]) => all[below(all.length)] as One;
  return { below, oneOf, isSo: () => next() < 0.5 };
}
const { below, oneOf, isSo } = buildRandom(SEED);

const COLUMNS = {
  number: { type: 'uuid', set: 'id' },
  map: { type: 'text' },
  big: { type: 'int64', isOptional: true },
  whole: { type: 'int32' },
  size: { type: 'number', isNullable: true },
  name: { type: 'text', isOptional: true, ignoresCase: true },
  code: { type: 'text' },
  at: { type: 'time', isOptional: true },
} as const;
const SORTED = ['number', 'map', 'big', 'whole', 'size', 'name', 'code', 'at'] as const;

function randomOrder(): string[] {
  const fields = SORTED.toSorted(() => below(3) - 1).slice(0, 1 + below(4));
  return fields.map((field) => (isSo() ? field : `-${field}`));
}
const ALL_ORDERS = Object.fromEntries(Array.from({ length: ORDERS }, (_, index) => [`order${index}`, randomOrder()]));

const points = {
  noun: 'point',
  table: 'points',
  columns: COLUMNS,
  lists: {
    always: ['map'],
    equal: ['whole', 'code'],
    range: ['big', 'size'],
    prefix: ['code'],
    orders: { ...ALL_ORDERS, added: '-number', pair: ['big', '-code'] },
    skip: 50,
    count: true,
  },
  errors: {},
  migrations: new URL('points/', import.meta.url),
} as const satisfies AnyDescription;

const VALUES: Record<string, readonly unknown[]> = {
  map: ['a', 'b'],
  big: [MOST, -MOST - 1n, 0n, MOST - 1n, 2n ** 53n + 1n, undefined, undefined],
  whole: [0, 1, -(2 ** 31)],
  size: [null, null, 0, -1.5, 1e21, 0.1 + 0.2, 10, 9],
  name: ['a', 'A', 'b', 'é', 'É', '🐕', '', undefined],
  code: ['x', 'xy', '\uffff', '🐕', 'x y', '"', ''],
  at: ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z', undefined],
};
const randomPoint = () => Object.fromEntries(Object.entries(VALUES).map(([name, values]) => [name, oneOf(values)]));

/** Compares texts by code points, as databases do. */
function compare(one: unknown, other: unknown): number {
  if (typeof one !== 'string')
    return (one as number) < (other as number) ? -1 : Number((one as number) > (other as number));
  return Buffer.compare(Buffer.from(one), Buffer.from(other as string));
}

/** Sorts records as a list would. They must be given in the order in which they were added. */
function sorted(records: readonly Fields[], order: readonly string[]): Fields[] {
  const isDown = order.at(-1)?.startsWith('-');
  const all = isDown && !order.some((one) => one.endsWith('number')) ? records.toReversed() : [...records];
  return all.sort((one, other) => {
    for (const by of order) {
      const name = by.replace('-', '');
      const [a, b] = [one[name] ?? null, other[name] ?? null].map((value) =>
        name === 'name' && typeof value === 'string'
          ? value.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
          : value,
      );
      const found =
        a === null || b === null ? Number(a === null) - Number(b === null) : compare(a, b) * (by === name ? 1 : -1);
      if (found !== 0) return found;
    }
    return 0;
  });
}

interface Asked {
  query: Fields;
  fits: (record: Fields) => boolean;
  order: readonly string[];
}

function randomList(): Asked {
  const query: Fields = { map: oneOf(['a', 'b']) };
  const tests: ((record: Fields) => boolean)[] = [({ map }) => map === query.map];
  for (const name of ['whole', 'code'] as const) {
    if (below(4) > 0) continue;
    query[name] = oneOf(VALUES[name] as unknown[]);
    tests.push((record) => record[name] === query[name]);
  }
  if (isSo()) {
    const name = oneOf(['big', 'size']);
    const [from, to] = [oneOf(VALUES[name] as unknown[]) ?? undefined, oneOf(VALUES[name] as unknown[]) ?? undefined];
    const [isAbove, isUpTo] = [isSo(), isSo()];
    query[name] = { [isAbove ? 'above' : 'from']: from, [isUpTo ? 'upTo' : 'below']: to };
    const isIn = (value: unknown) =>
      value !== undefined &&
      value !== null &&
      (from === undefined || compare(value, from) >= Number(isAbove)) &&
      (to === undefined || compare(value, to) < Number(isUpTo));
    tests.push((record) => (from === undefined && to === undefined) || isIn(record[name]));
  }
  if (below(4) === 0) {
    query.codeBegins = 'x';
    tests.push(({ code }) => String(code).startsWith('x'));
  }
  const order = below(10) === 0 ? undefined : oneOf([...Object.keys(ALL_ORDERS), 'added', 'pair']);
  if (order !== undefined) query.order = order;
  const by = order === undefined ? [] : [points.lists.orders[order as 'added']].flat();
  return { query, fits: (record) => tests.every((test) => test(record)), order: by };
}

const toNumbers = (records: readonly Fields[] | undefined) => records?.map(({ number }) => number);

async function checkList(t: Test, records: AnyCollection, all: Fields[], asked: Asked): Promise<void> {
  const { query, fits, order } = asked;
  const expected = toNumbers(sorted(all.filter(fits), order)) as unknown[];
  const said = JSON.stringify({ ...query, order }, (_name, value) => (typeof value === 'bigint' ? `${value}n` : value));
  const limit = 1 + below(20);
  const found: unknown[] = [];
  let after: string | undefined;
  do {
    const page = (await records.list({ ...query, limit, after } as never)) as unknown as {
      body: { read(): Fields[] };
      next?: string;
    };
    found.push(...(toNumbers(page.body.read()) as unknown[]));
    after = page.next;
  } while (after !== undefined);
  t.strictSame(found, expected, `pages of ${limit}: ${said}`);
  const skip = below(30);
  const page = (await records.list({ ...query, limit, skip, count: true } as never)) as unknown as {
    body: { read(): Fields[] };
    total: number;
  };
  t.strictSame(toNumbers(page.body.read()), expected.slice(skip, skip + limit), `${skip} skipped: ${said}`);
  t.equal(page.total, expected.length, said);
  t.strictSame(toNumbers((await records.all({ ...query, most: RECORDS } as never)).read()), expected, `all: ${said}`);
}

async function openPoints(open: Open): Promise<AnyCollection> {
  const { store } = await open({ points }, {});
  return (store.collections as { points: AnyCollection }).points;
}

function testOrders(t: Test, prepare: (t: Test) => Open): void {
  t.test(
    'pages, skips, counts and whole lists are correct for random filters and orders while other records are written',
    async (t) => {
      const records = await openPoints(prepare(t));
      const all = (await records.createAll(Array.from({ length: RECORDS }, randomPoint))) as Fields[];
      for (let run = 0; run < RUNS; run++) {
        const [made] = await Promise.all([
          records.create({ ...randomPoint(), map: 'other' }),
          checkList(t, records, all, randomList()),
        ]);
        if (isSo()) await records.delete((made as Fields).number);
      }
    },
  );

  t.test('a list request that skips too many records or lacks a required filter is an error', async (t) => {
    const records = await openPoints(prepare(t));
    const list = async (query: object) => records.list({ limit: 1, ...query } as never);
    const all = async (query: object) => records.all({ map: 'c', ...query } as never);
    t.match(await list({ map: 'a', skip: 50n, count: true }), { total: 0 });
    await t.rejects(list({ map: 'a', skip: 51 }), InvalidValue);
    await t.rejects(list({}), { message: 'a list of points needs map, and the query does not contain it' });
    t.match(await list({ map: '\0', count: true }), { total: 0, next: undefined });
    await records.createAll([randomPoint(), randomPoint()].map((one) => ({ ...one, map: 'c' })));
    await t.rejects(all({ most: 1 }), { message: /more than 1 records/ });
    t.equal((await all({ most: 2, order: 'added' })).read().length, 2);
  });

  t.test('a list rejects a cursor that the server did not make', async (t) => {
    const records = await openPoints(prepare(t));
    await records.createAll([randomPoint(), randomPoint()].map((one) => ({ ...one, map: 'c' })));
    const list = (query: object) => records.list({ limit: 1, map: 'c', order: 'pair', ...query } as never);
    const { next = '' } = (await list({})) as unknown as { next?: string };
    t.ok(await list({ after: next }));
    const text = Buffer.from(next, 'base64url').toString();
    const edit = (made: string) =>
      Buffer.from(text.replace(/(?<= ).*$/, (all) => `${all.split(' ', 1)} ${made}`)).toString('base64url');
    for (const made of ['', '[]', '{}', '[1,2,3,4]', '[null,null]', '[null,null,null,null]', '["\\u0000"]', 'null'])
      t.equal(await list({ after: edit(made) }), undefined, made);
    t.equal(await list({ after: next, order: 'order1' }), undefined);
  });
}

onBoth(t, testOrders, {});

t.test(
  'the store proposes exactly the indexes that the lists need, and no index that another index already covers',
  (t) => {
    const indexesOf = (lists: object, more: object = {}) => {
      const table = toTable({ ...points, lists, ...more } as AnyDescription);
      return toWantedIndexes(table).map((index) =>
        toIndexSql(table, index, DIALECT).replace(/^CREATE INDEX points_by_/, ''),
      );
    };
    t.strictSame(indexesOf({}), []);
    t.strictSame(indexesOf({ equal: ['whole'] }), ['whole ON points (whole, seq)']);
    t.strictSame(indexesOf({ always: ['map'] }), ['map ON points (map, seq)']);
    t.strictSame(indexesOf({ always: ['map'], orders: { big: ['-big', 'number'], small: ['big', '-number'] } }), [
      'map_big_mixed ON points (map, big, number DESC)',
    ]);
    t.strictSame(indexesOf({ equal: ['code'], orders: { newest: '-at', oldest: 'at', name: 'name', size: 'size' } }), [
      'code_at ON points (code, at, seq)',
      'at ON points (at, seq)',
      'code_name ON points (code, name COLLATE NOCASE, seq)',
      'name ON points (name COLLATE NOCASE, seq)',
      'code_size ON points (code, CAST(size AS REAL), seq)',
      'size ON points (CAST(size AS REAL), seq)',
    ]);
    t.strictSame(indexesOf({ orders: { number: 'number' } }), []);
    t.strictSame(indexesOf({ equal: ['code'] }, { unique: [{ fields: ['code'], code: 'taken' }] }), []);
    const long = indexesOf(
      { always: ['map', 'code', 'whole'], orders: { all: ['big', 'name', 'size', 'at'] } },
      { table: 'points_of_a_table_with_a_name' },
    );
    t.match(long, [/^CREATE INDEX points_of_a_table_with_a_name_by_map_code_\w+_[0-9a-f]{8} ON /]);
    t.equal(long[0]?.split(' ')[2]?.length, 63);
    t.end();
  },
);

t.test('a list cannot be ordered by a column of JSON or booleans', (t) => {
  const toBad = (type: 'json' | 'boolean') =>
    toTable({ ...points, columns: { ...COLUMNS, big: { type } }, lists: { orders: { big: 'big' } } });
  for (const type of ['json', 'boolean'] as const) t.throws(() => toBad(type), /cannot be ordered by big/);
  t.end();
});
