/** Migrations that change types or drop unique sets, with records in the tables of both databases. */
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { writeNext } from '../../../src/contract-first/cli/migration/migration.ts';
import type { Answers } from '../../../src/contract-first/cli/migration/next-migration.ts';
import type { AnyCollection, Fields } from '../../../src/contract-first/store/collection.ts';
import type { AnyDescription, AnyDomain, ColumnType } from '../../../src/contract-first/store/tables/description.ts';
import { type Open, onBoth } from '../../orders/shops.ts';

const NONE: Answers = { drop: new Set(), rename: new Map() };
const ID = { type: 'int64', set: 'id' } as const;
const optional = (type: ColumnType) => ({ type, isOptional: true }) as const;

function buildDomain(t: Test) {
  const migrations = pathToFileURL(`${t.testdir()}/`);
  return (columns: AnyDescription['columns'], more: Partial<AnyDescription> = {}): AnyDomain => ({
    things: { noun: 'thing', table: 'things', errors: {}, columns: { id: ID, ...columns }, migrations, ...more },
  });
}

function buildOpen(t: Test, prepare: (t: Test) => Open) {
  const open = prepare(t);
  return async (domain: AnyDomain): Promise<AnyCollection> => {
    const onWarning = (warning: string) => t.fail(warning);
    const { store } = await open(domain, {}, { onWarning });
    return (store.collections as unknown as Record<'things', AnyCollection>).things;
  };
}

const ofTenant = (things: AnyCollection) => (things as unknown as { of(tenant: string): AnyCollection }).of('a');

type Change = [before: ColumnType, after: ColumnType, values: [before: unknown, after: unknown][]];

const CHANGES: Change[] = [
  ['int32', 'int64', [[-2147483648, -2147483648n]]],
  [
    'int64',
    'int32',
    [
      [2147483647n, 2147483647],
      [-2147483648n, -2147483648],
    ],
  ],
  [
    'boolean',
    'int32',
    [
      [true, 1],
      [false, 0],
    ],
  ],
  [
    'int32',
    'boolean',
    [
      [1, true],
      [0, false],
    ],
  ],
  ['boolean', 'int64', [[true, 1n]]],
  ['int64', 'boolean', [[0n, false]]],
  ['boolean', 'number', [[true, 1]]],
  [
    'boolean',
    'text',
    [
      [true, 'true'],
      [false, 'false'],
    ],
  ],
  [
    'text',
    'boolean',
    [
      ['true', true],
      ['false', false],
    ],
  ],
  ['text', 'number', [['-1.5', -1.5]]],
  ['number', 'text', [[2.5, '2.5']]],
  ['number', 'int32', [[7, 7]]],
  ['int64', 'number', [[5n, 5]]],
  ['int64', 'text', [[9223372036854775807n, '9223372036854775807']]],
  ['text', 'int64', [['-9223372036854775808', -9223372036854775808n]]],
];

const UNFIT: [before: ColumnType, after: ColumnType, value: unknown][] = [
  ['int64', 'int32', 2147483648n],
  ['int64', 'boolean', 2n],
  ['int32', 'boolean', -1],
  ['text', 'int32', '-3000000000'],
  ['text', 'int64', 'a'],
  ['text', 'boolean', 'maybe'],
  ['text', 'number', 'NaN'],
  ['text', 'number', '"1"'],
];

const toColumns = (toType: (change: Change) => ColumnType): AnyDescription['columns'] =>
  Object.fromEntries(CHANGES.map((change, place) => [`field${place}`, optional(toType(change))]));

function testTypes(t: Test, prepare: (t: Test) => Open): void {
  t.test("a generated migration can change any column's type, and each record keeps its value", async (t) => {
    const toDomain = buildDomain(t);
    const open = buildOpen(t, prepare);
    const [first, second] = [toDomain(toColumns(([before]) => before)), toDomain(toColumns(([, after]) => after))];
    writeNext(first, 'first', NONE);
    const before = await open(first);
    const toRecord = (row: number, part: 0 | 1): Fields =>
      Object.fromEntries(
        CHANGES.flatMap(([, , values], place) => (values[row] ? [[`field${place}`, values[row]?.[part]]] : [])),
      );
    for (const row of [0, 1, 2]) await before.create(toRecord(row, 0));
    t.match(writeNext(second, 'second', NONE), { files: [/sqlite\/0002-second.sql$/, /postgres\/0002/] });
    t.strictSame(writeNext(second, 'again', NONE), { files: [] });
    const things = await open(second);
    for (const row of [0, 1, 2])
      t.strictSame({ ...(await things.read(BigInt(row + 1))) }, { id: BigInt(row + 1), ...toRecord(row, 1) });
  });

  for (const [before, after, value] of UNFIT)
    t.test(`if ${value} is stored, a migration to ${after} from ${before} fails and changes nothing`, async (t) => {
      const toDomain = buildDomain(t);
      const open = buildOpen(t, prepare);
      const first = toDomain({ size: optional(before) });
      writeNext(first, 'first', NONE);
      await (await open(first)).create({ size: value });
      const second = toDomain({ size: optional(after) });
      t.match(writeNext(second, 'second', NONE), { files: [/sqlite/, /postgres/] });
      await t.rejects(open(second), { message: /things\/0002-second\.sql/ });
    });

  t.test('a generated migration can drop a unique constraint, and can make one ignore case', async (t) => {
    const toDomain = buildDomain(t);
    const open = buildOpen(t, prepare);
    const columns = { name: { type: 'text' }, colour: optional('text'), size: { type: 'int32' } } as const;
    const toSets = (...sets: string[][]) => sets.map((fields) => ({ fields, code: 'taken' }));
    const first = toDomain(columns, { unique: toSets(['name'], ['colour', 'size']) });
    writeNext(first, 'first', NONE);
    const red = { name: 'a', colour: 'red', size: 1 };
    const before = await open(first);
    await before.create(red);
    t.match(await before.create({ ...red, name: 'b' }), { refused: 'taken' });

    const listed = { lists: { equal: ['colour'] } };
    const second = toDomain(
      { ...columns, name: { type: 'text', ignoresCase: true } },
      {
        ...listed,
        unique: toSets(['name']),
      },
    );
    writeNext(second, 'second', NONE);
    t.strictSame(writeNext(second, 'again', NONE), { files: [] });
    const things = await open(second);
    const { id } = (await things.create({ ...red, name: 'b' })) as { id: bigint };
    t.type(id, 'bigint', 'the columns of the dropped unique set may repeat');
    t.match(await things.create({ ...red, name: 'A' }), { refused: 'taken' });

    const third = toDomain({ ...columns, size: { type: 'text' } }, listed);
    writeNext(third, 'third', NONE);
    t.strictSame(writeNext(third, 'again', NONE), { files: [] });
    t.match(await (await open(third)).create({ name: 'a', size: 'big' }), { name: 'a', size: 'big' });

    const fourth = toDomain({ ...columns, size: { type: 'text' } }, { ...listed, unique: toSets(['colour']) });
    await (await open(third)).delete(id);
    writeNext(fourth, 'fourth', NONE);
    t.match(await (await open(fourth)).create(red), { refused: 'taken' });
    const fifth = toDomain({ name: { type: 'text' } });
    writeNext(fifth, 'fifth', { ...NONE, drop: new Set(['things.colour', 'things.size']) });
    t.match(await (await open(fifth)).create({ name: 'a' }), { name: 'a' });
  });

  t.test('after a migration removes the tenants of a collection, the store finds records by their ids', async (t) => {
    const toDomain = buildDomain(t);
    const open = buildOpen(t, prepare);
    const columns = { id: { type: 'uuid', set: 'id' }, name: { type: 'text' } } as const;
    const first = toDomain({ ...columns, shop: { type: 'text', set: 'tenant' } });
    writeNext(first, 'first', NONE);
    const { id } = (await ofTenant(await open(first)).create({ name: 'a' })) as { id: string };
    const second = toDomain(columns);
    writeNext(second, 'second', { ...NONE, drop: new Set(['things.shop']) });
    t.strictSame(writeNext(second, 'again', NONE), { files: [] });
    t.match(await (await open(second)).read(id), { id, name: 'a' });
  });
}

onBoth(t, testTypes, {});

t.test('`migration` also recognizes PostgreSQL column types in migrations that a team wrote by hand', (t) => {
  const toDomain = buildDomain(t);
  const columns = {
    pieces: optional('int64'),
    isOpen: optional('int64'),
    size: optional('text'),
    label: optional('text'),
  };
  const first = toDomain(columns);
  writeNext(first, 'first', NONE);
  const folder = new URL('postgres/', first.things?.migrations);
  const own = `CREATE UNLOGGED TABLE IF NOT EXISTS things (
    id int8 PRIMARY KEY, "pieces" INT4 CHECK (pieces::text <> ';'), is_open bool, -- not text
    label citext
  );
  CREATE TABLE others (things bigint, pieces text);
  ALTER TABLE ONLY things ADD COLUMN IF NOT EXISTS length float8;
  ALTER TABLE things RENAME COLUMN length TO size;
  ALTER TABLE things RENAME TO things;
  UPDATE things SET size = 1;
  `;
  const replace = (sql: string) => writeFileSync(new URL('0001-first.sql', folder), sql);
  const next = (fields: AnyDescription['columns'], name: string) => {
    writeNext(toDomain(fields), name, NONE);
    return readFileSync(new URL(`0002-${name}.sql`, folder), 'utf8');
  };
  replace(own);
  t.equal(
    next(columns, 'all'),
    `ALTER TABLE things ALTER COLUMN pieces DROP DEFAULT, ALTER COLUMN pieces TYPE bigint USING pieces::text::bigint, ALTER COLUMN pieces DROP NOT NULL;
ALTER TABLE things ALTER COLUMN is_open DROP DEFAULT, ALTER COLUMN is_open TYPE bigint USING is_open::integer::bigint, ALTER COLUMN is_open DROP NOT NULL;
ALTER TABLE things ALTER COLUMN size DROP DEFAULT, ALTER COLUMN size TYPE text COLLATE "C" USING size::text, ALTER COLUMN size DROP NOT NULL;
`,
  );
  t.strictSame(writeNext(first, 'again', NONE), { files: [] });
  const sqlite = readFileSync(new URL('../sqlite/0002-all.sql', folder), 'utf8');
  t.equal(sqlite.replace(/^-- .*\n/gm, ''), '', 'the file for SQLite contains only comments');
  t.end();
});
