/**
 * Compares each example reply in the contract with a reply of the server, because people read the examples and tools
 * mock them.
 */
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { resolveDocument } from '../src/contract-first/contract/read/load-contract.ts';
import { makeKey, toStoredKey } from '../src/contract-first/store/api-keys.ts';
import { StoreUnavailable } from '../src/contract-first/store/store.ts';
import type { Json } from './any-json.ts';
import { loadConfig } from './config.ts';
import { openUrl } from './database.ts';
import { CONTRACT } from './properties/operations.ts';
import { type ReceivedReply, type RequestOptions, startService } from './service.ts';

/** Headers whose values depend on earlier requests. */
const OF_RATES = ['ratelimit', 'ratelimit-policy', 'retry-after'];

const PETS = '/v1/pets';
const REX = { name: 'Rex', categoryId: 7, status: 'available' };
const MIA = { name: 'Mia', categoryId: 7 };

/** The state of the service for an example: its pets, the rate and scopes of the key, and whether the store fails. */
interface Place {
  pets?: object[];
  rate?: string;
  scopes?: string[];
  isDown?: boolean;
}

type Ask = [place: Place, url: string, options?: RequestOptions];

const post = (body: unknown, headers = {}): RequestOptions => ({ method: 'POST', body, headers });

/**
 * For each example in the contract, the request whose reply it shows. Keys are the example's name, preceded by the
 * operationId if operations differ.
 */
const ASKS: Record<string, Ask> = {
  'listPets two': [{ pets: [REX, MIA] }, PETS],
  'createPet added': [{}, PETS, post(REX)],
  'getPet found': [{ pets: [REX] }, `${PETS}/1`],
  'getPet unknown': [{}, `${PETS}/4711`],
  'createPet invalid': [{}, PETS, post({ name: 'Rex', stauts: 'sold' })],
  'createPet malformed': [{}, PETS, post('{')],
  'listPets parameter': [{}, `${PETS}?limit=500`],
  'getPet parameter': [{}, `${PETS}/rex`],
  'createPet tooLarge': [{}, PETS, post({ ...REX, name: 'x'.repeat(20_000) })],
  'createPet notJson': [{}, PETS, post('name=Rex', { 'content-type': 'text/plain' })],
  'createPet reused': [{ pets: [REX] }, PETS, post(MIA, { 'idempotency-key': 'key-of-pet-0' })],
  ...ofEach('unauthorized', {}, { key: null }),
  'listPets forbidden': [{ scopes: ['pets:write'] }, PETS],
  'getPet forbidden': [{ scopes: ['pets:write'] }, `${PETS}/1`],
  'createPet forbiddenToAdd': [{ scopes: ['pets:read'] }, PETS, post(REX)],
  ...ofEach('rateLimited', { rate: '1/h' }),
  ...ofEach('unavailable', { isDown: true }),
};

function ofEach(name: string, place: Place, options: RequestOptions = {}): Record<string, Ask> {
  return {
    [`listPets ${name}`]: [place, PETS, options],
    [`createPet ${name}`]: [place, PETS, { ...post(REX), ...options }],
    [`getPet ${name}`]: [place, `${PETS}/1`, options],
  };
}

const lost = () => {
  throw new StoreUnavailable(new Error('lost'));
};
const LOST = { list: lost, get: lost, create: lost };

async function ask(
  t: Test,
  [{ pets = [], rate = 'none', scopes, isDown }, url, options = {}]: Ask,
): Promise<ReceivedReply> {
  const store = openUrl('sqlite::memory:');
  const key = makeKey('petstore');
  await store.createKey(toStoredKey(key, 'reader', undefined, scopes));
  const { request } = await startService(t, { store, limits: loadConfig({ KEY_RATE: rate }) });
  for (const [index, pet] of pets.entries()) {
    await request(PETS, { ...post(pet, { 'idempotency-key': `key-of-pet-${index}` }), key });
  }
  if (rate === '1/h') await request(PETS, { key });
  if (isDown) Object.assign(store.records, LOST);
  return request(url, { key, ...options });
}

/** All example replies: operation, body, and the headers whose examples have the same name. */
const declared = Object.values<Json>(resolveDocument(parse(CONTRACT), () => {}).paths)
  .flatMap((item) => ['get', 'post'].flatMap((method) => item[method] ?? []))
  .flatMap(({ operationId, responses }) =>
    Object.entries<Json>(responses).flatMap(([status, { headers, content }]) =>
      Object.entries<Json>(content['application/json'].examples).map(([name, { value }]) => ({
        name: `${operationId} ${name}`,
        status,
        value,
        headers: Object.entries<Json>(headers).map(([header, { example, examples }]) => [
          header.toLowerCase(),
          examples?.[name]?.value ?? example,
        ]),
      })),
    ),
  );

t.test('this file compares every example reply of the contract with a reply of the server', async (t) => {
  t.strictSame(declared.map(({ name }) => name).sort(), Object.keys(ASKS).sort());
});

/** Returns the example headers with this name. */
function headersOf(wanted: string): [string, string][] {
  return declared.flatMap(({ name, headers }) => (name === wanted ? (headers as [string, string][]) : []));
}

for (const { name, status, value, headers } of declared) {
  t.test(`the contract's example ${name} equals the server's reply, body and headers`, async (t) => {
    const reply = await ask(t, ASKS[name] as Ask);
    t.strictSame(reply.body, value);
    t.equal(reply.status, status === 'default' ? value.status : Number(status));
    for (const [header, example] of headers) {
      const given = reply.headers[header];
      if (header === 'x-request-id') t.match(given, /^[\w-]{8}-\d$/);
      else if (!OF_RATES.includes(header) && given !== undefined) t.equal(given, example, header);
    }
  });
}

t.test('the example headers in the contract equal those of a first request, and link to the second page', async (t) => {
  const headers = headersOf('listPets two');
  const given = await ask(t, [{ pets: Array(21).fill(REX), rate: '121/s' }, `${PETS}?limit=20`]);
  const expected = Object.fromEntries(headers.filter(([name]) => name !== 'x-request-id'));
  t.match(given.headers, { link: expected.link });
  const first = await ask(t, [{ rate: '100/s' }, PETS]);
  t.match(first.headers, { ratelimit: expected.ratelimit, 'ratelimit-policy': expected['ratelimit-policy'] });
});

t.test("a replayed reply has the Idempotency-Replayed header of the contract's example", async (t) => {
  const headers = headersOf('createPet added');
  const given = await ask(t, [{ pets: [REX] }, PETS, post(REX, { 'idempotency-key': 'key-of-pet-0' })]);
  t.equal(given.headers['idempotency-replayed'], new Map(headers).get('idempotency-replayed'));
});
