import t from 'tap';
import { domain } from '../../../src/generated/domain.ts';
import { parseExactJson } from '../../../src/json/exact-json.ts';
import { JsonText } from '../../../src/json/json-text.ts';
import { buildReadLine, MAX_LINE } from '../../../src/operate/cli/line.ts';
import { count, describeCounts } from '../../../src/operate/cli/progress.ts';
import { toParts } from '../../../src/operate/cli/reading.ts';
import { toLines } from '../../../src/operate/cli/writing.ts';
import type { Fields } from '../../../src/store/collection.ts';
import type { AnyDomain } from '../../../src/store/description.ts';
import type { Part, StoredKey } from '../../../src/store/store.ts';
import type { Pet } from '../../database.ts';
import { loadOurs } from '../../service.ts';

const SOURCE = { name: 'pets', read: parseExactJson };

const { contract } = await loadOurs();
const readLine = buildReadLine(contract, domain);
const HASH = 'a'.repeat(64);
const HEAD = '{"export":{"version":1,"lastId":{"pets":9}}}';
const KEY = `{"key":{"id":"k","name":"Ada","hash":"${HASH}","createdAt":"2026-01-01T00:00:00.000Z"}}`;
const PET = '{"pet":{"id":1,"name":"Rex","categoryId":7}}';
const END = '{"end":{"keys":1,"pets":1}}';

async function* inPieces(bytes: Buffer, size = bytes.length || 1): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function read(bytes: Buffer, size?: number) {
  const all = { lastId: 0n, keys: [] as StoredKey[], records: [] as Fields[] };
  for await (const { lastIds, keys = [], records = [] } of toParts(inPieces(bytes, size), readLine, domain)) {
    all.lastId ||= lastIds?.pets ?? 0n;
    all.keys.push(...keys);
    all.records.push(...records);
  }
  return all;
}

const readLines = (...lines: string[]) => read(Buffer.from(`${lines.join('\n')}\n`));

t.test('an export is read exactly, however it is cut into pieces, with or without its last line end', async (t) => {
  const most = 2n ** 63n - 1n;
  const pets = [
    `{"pet":{"id":1,"name":"Rex \\ud83d\\udc15","categoryId":${-most - 1n}}}\r`,
    ` { "pet" : {"categoryId":9007199254740993,"status":"sold","name":"🐕","id":${most - 1n}}}`,
  ];
  const key = KEY.replace(
    '}}',
    ',"expiresAt":"2027-01-01T00:00:00.000Z","revokedAt":"2026-02-01T00:00:00.000Z","scopes":["pets:read"],"rate":"100/s"}}',
  );
  const text = [HEAD.replace('9', `${most - 1n}`), key, ...pets, '{"end":{"keys":1,"pets":2}}'].join('\n');
  for (const bytes of [Buffer.from(text), Buffer.from(`${text}\n`)]) {
    for (const size of [1, 7, bytes.length]) {
      const all = await read(bytes, size);
      t.same(all, {
        lastId: most - 1n,
        keys: [JSON.parse(key).key],
        records: [
          { id: 1n, name: 'Rex 🐕', categoryId: -most - 1n },
          { id: most - 1n, name: '🐕', categoryId: 9007199254740993n, status: 'sold' },
        ],
      });
    }
  }
});

t.test('what was written is read again, and written as before', async (t) => {
  const keys = [
    { id: 'k', name: 'Ada "A" 🔑', hash: HASH, createdAt: '2026-01-01T00:00:00.000Z', expiresAt: undefined },
  ];
  const pets = ['{"id":1,"name":"Rex","categoryId":7}', '{"id":2,"name":"\\"\\\\🐕","categoryId":-7,"status":"sold"}'];
  async function* toTextParts(): AsyncGenerator<Part<JsonText<Pet>>> {
    yield { lastIds: { pets: 9n }, keys };
    for (const text of pets) yield { collection: 'pets', records: [JsonText.of<Pet>(text, SOURCE)] };
  }
  const counts = { keys: 0, records: {} };
  let text = '';
  for await (const lines of toLines(
    count(toTextParts(), counts, domain, () => {}),
    counts,
    domain,
  ))
    text += lines;
  t.equal(
    text,
    `${HEAD}
{"key":{"id":"k","name":"Ada \\"A\\" 🔑","hash":"${HASH}","createdAt":"2026-01-01T00:00:00.000Z"}}
{"pet":${pets[0]}}
{"pet":${pets[1]}}
{"end":{"keys":1,"pets":2}}
`,
  );
  t.same((await read(Buffer.from(text))).records, [
    { id: 1n, name: 'Rex', categoryId: 7n },
    { id: 2n, name: '"\\🐕', categoryId: -7n, status: 'sold' },
  ]);
});

t.test('an export that is cut off anywhere is refused', async (t) => {
  const bytes = Buffer.from([HEAD, KEY, PET, END].join('\n'));
  for (let length = 0; length < bytes.length; length++) {
    await t.rejects(
      read(bytes.subarray(0, length)),
      /^Line \d: |^The export is cut off after line \d: /,
      String(length),
    );
  }
  const cutOff = { message: 'The export is cut off after line 3: its last line, "end", is missing.' };
  await t.rejects(readLines(HEAD, KEY, PET), cutOff);
});

t.test('a bad line is named with its number, and with what is wrong', async (t) => {
  const pet = (fields: string) => `{"pet":{${fields}}}`;
  const key = (from: string, to: string) => KEY.replace(from, to);
  for (const [line, told] of [
    ['', 'it is not well-formed JSON: it ends too early'],
    ['{"pet":', 'it is not well-formed JSON: it ends too early'],
    ['[]', 'must be of type object'],
    ['{}', 'must have at least 1 fields'],
    ['{"cat":{}}', 'cat is not a known field'],
    [`${PET.slice(0, -1)},${KEY.slice(1)}`, 'must have at most 1 fields'],
    [pet('"name":"Rex","categoryId":7'), 'pet.id is missing'],
    [pet('"id":0,"name":"Rex","categoryId":7'), 'pet.id must be at least 1'],
    [pet('"id":-1152921504606846976,"name":"Rex","categoryId":7'), 'pet.id must be at least 1'],
    [pet('"id":1.5,"name":"Rex","categoryId":7'), /^pet\.id must be a 64-bit integer/],
    [pet('"id":9223372036854775808,"name":"Rex","categoryId":7'), /^pet\.id must be a 64-bit integer/],
    [pet('"id":"1","name":"Rex","categoryId":7'), /^pet\.id must be a 64-bit integer/],
    [pet('"id":1,"id":2,"name":"Rex","categoryId":7'), 'it has the field "id" twice'],
    [pet('"id":1,"name":"","categoryId":7'), 'pet.name must have at least 1 characters'],
    [pet('"id":1,"name":"\\u0000","categoryId":7'), 'pet.name must not have the character U+0000'],
    [pet('"id":1,"name":"\\ud800","categoryId":7'), 'it has half a surrogate pair in a string'],
    [pet('"id":1,"name":"Rex","categoryId":7,"status":"gone"'), 'pet.status must be one of available, pending, sold'],
    [pet('"id":1,"name":"Rex","categoryId":7,"status":null'), /^pet\.status must be/],
    [pet('"id":1,"name":"Rex","categoryId":7,"age":3'), 'pet.age is not a known field'],
    [pet('"id":1,"nme":"Rex"'), 'pet.name is missing; pet.categoryId is missing; pet.nme is not a known field'],
    [key(HASH, 'petstore_'), /^key\.hash must match/],
    [key('.000Z', 'Z'), /^key\.createdAt must match/],
    [key('2026-01-01', '2026-01-99'), /^key\.createdAt must match format/],
    ...['', ' Ada', 'a'.repeat(101)].map((name) => [key('"Ada"', `"${name}"`), /^key\.name must match/] as const),
    [key('"Ada"', '"a\\u001b[2J"'), 'key.name must not have the character U+001B'],
    ...['API_KEYS.1', 'a b', '', 'a'.repeat(65)].map((id) => [key('"k"', `"${id}"`), /^key\.id must match/] as const),
    [key('"id":"k",', ''), 'key.id is missing'],
    [HEAD, 'another export begins'],
    [END, 'end counts 1 pets and 1 keys, and there are 0 and 0'],
    [`${pet('"id":1,"name":"Rex","categoryId":7')}${' '.repeat(MAX_LINE)}`, 'it is too long'],
  ] as const) {
    const message = typeof told === 'string' ? `Line 2: ${told}.` : new RegExp(`^Line 2: ${told.source.slice(1)}`);
    await t.rejects(readLines(HEAD, line, END), { message }, line.slice(0, 80));
  }
});

t.test('a field of a record that is not in the contract is refused, whatever its name', async (t) => {
  for (const name of ['x', '__proto__', 'constructor', 'toString']) {
    const pet = PET.replace('"id"', `"${name}":{"a":1},"id"`);
    await t.rejects(readLines(HEAD, KEY, pet, END), { message: new RegExp(`^Line 3: pet\\.${name} `) }, name);
  }
});

const LAST = '9223372036854775807';

t.test('lines are refused that do not fit those before them, or leave no id for a next record', async (t) => {
  const second = KEY.replace('"k"', '"l"');
  const refusals: [lines: string[], told: string][] = [
    [[PET], 'Line 1: no export begins here.'],
    [[HEAD.replace('1', '2')], 'Line 1: export.version must be one of 1.'],
    [[HEAD, PET, PET], 'Line 3: pet.id must be higher than 1, which came before.'],
    [[HEAD, PET.replace('1', '5'), PET.replace('1', '4')], 'Line 3: pet.id must be higher than 5, which came before.'],
    [[HEAD.replace('9', LAST)], `Line 1: export.lastId.pets must be lower than ${LAST}: no id would be left.`],
    [[HEAD, PET.replace('1', LAST)], `Line 2: pet.id must be lower than ${LAST}: no id would be left.`],
    [[HEAD, KEY, KEY], 'Line 3: key.id is that of an earlier key.'],
    [[HEAD, KEY, second], 'Line 3: key.hash is that of an earlier key.'],
    [[HEAD, KEY, END], 'Line 3: end counts 1 pets and 1 keys, and there are 0 and 1.'],
    [[HEAD, PET, END], 'Line 3: end counts 1 pets and 1 keys, and there are 1 and 0.'],
    [[HEAD, KEY, PET, END, END], 'Line 5: it comes after the end.'],
    [[HEAD, KEY, PET, END, ''], 'Line 5: it is not well-formed JSON: it ends too early.'],
  ];
  for (const [lines, message] of refusals) await t.rejects(readLines(...lines), { message });
});

t.test('ids that clients give come in any order, and the last of them may be one', async (t) => {
  const columns = { ...domain.pets.columns, id: { column: 'id', type: 'int64', is: 'id' } } as const;
  const given: AnyDomain = { pets: { ...domain.pets, columns } };
  const lines = [HEAD, PET.replace('1', LAST), PET.replace('1', '-5'), PET, END.replace('1', '0').replace('1', '3')];
  const bytes = Buffer.from(lines.join('\n'));
  const ids: unknown[] = [];
  for await (const { records = [] } of toParts(inPieces(bytes), buildReadLine(contract, given), given))
    ids.push(...records.map(({ id }) => id));
  t.strictSame(ids, [BigInt(LAST), -5n, 1n]);
});

t.test('a part has records of one collection, and all come in the order of their lines', async (t) => {
  const both: AnyDomain = { ...domain, cats: { ...domain.pets, noun: 'cat' } };
  const cats = [1, 2].map((id) => PET.replace('pet', 'cat').replace('1', `${id}`));
  const head = HEAD.replace('"pets":9', '"pets":9,"cats":9');
  const bytes = Buffer.from([head, KEY, PET, ...cats, END.replace('}}', ',"cats":2}}')].join('\n'));
  const parts: unknown[] = [];
  for await (const { keys = [], collection, records = [] } of toParts(
    inPieces(bytes),
    buildReadLine(contract, both),
    both,
  ))
    parts.push([keys.length, collection, records.map(({ id }) => id)]);
  t.strictSame(parts, [
    [1, 'pets', [1n]],
    [0, 'cats', [1n, 2n]],
  ]);
});

t.test('the number is right in any place of a long export, for bytes that are not UTF-8 too', async (t) => {
  const pets = Array.from({ length: 20_000 }, (_, index) => PET.replace('1', `${index + 1}`));
  const bytes = Buffer.from([HEAD, ...pets].join('\n'));
  for (const number of [2, 7_777, 19_999]) {
    const broken = Buffer.from(bytes);
    broken[bytes.indexOf(`{"id":${number},`) + 8 + String(number).length] = 0xff;
    for (const size of [65_536, 1_000_000]) {
      await t.rejects(read(broken, size), { message: `Line ${number + 1}: it is not UTF-8.` });
    }
  }
});

t.test('a line without an end needs no more memory than a block', async (t) => {
  let taken = 0;
  async function* endless() {
    yield Buffer.from(`${HEAD}\n`);
    for (;;) {
      taken++;
      yield Buffer.alloc(MAX_LINE / 4, ' ');
    }
  }
  const reading = async () => {
    for await (const _ of toParts(endless(), readLine, domain));
  };
  await t.rejects(reading(), { message: 'Line 2: it is too long.' });
  t.ok(taken <= 9, String(taken));
});

t.test('progress is told from time to time, with the number of pets and keys', async (t) => {
  const told: string[] = [];
  const counts = { keys: 0, records: {} };
  async function* parts() {
    yield { keys: ['k'] as never[], collection: 'pets', records: [1] };
    yield { collection: 'pets', records: Array(1233).fill(2) };
  }
  for await (const _ of count(parts(), counts, domain, (text) => told.push(text), 0));
  t.strictSame(told, ['1 pet and 1 key …', '1,234 pets and 1 key …']);
  t.strictSame(counts, { keys: 1, records: { pets: 1234 } });
  t.equal(describeCounts({ keys: 0, records: {} }, domain), '0 pets and 0 keys');
});
