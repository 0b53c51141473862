import t from 'tap';
import { makeKey, toStoredKey } from '../../src/contract-first/store/api-keys.ts';
import { serve } from '../added-operations.ts';
import { openUrl } from '../database.ts';
import { edited } from '../edited-contract.ts';
import { KEY, startService } from '../service.ts';

const post = (body: unknown, headers = {}) => ({ method: 'POST', body, headers });

t.test('POST /pets answers 201 with the pet, its id and its Location, where GET finds the pet', async (t) => {
  const { client, request } = await startService(t);
  const { status, headers, body } = await client.createPet({
    body: { name: 'Rex', categoryId: 7n, status: 'pending' },
  });
  t.equal(status, 201);
  t.strictSame(body, { id: 1n, name: 'Rex', categoryId: 7n, status: 'pending' });
  t.equal(headers.location, '/v1/pets/1');
  t.strictSame((await client.getPet({ params: { petId: 1n } })).body, body);
  t.match(await request(headers.location as string), { status: 200, body: { name: 'Rex' } });
});

t.test('a 64-bit integer of a pet keeps every digit from the request body to the reply', async (t) => {
  const { request } = await startService(t);
  const digits = ['9007199254740993', '9223372036854775807', '-9223372036854775808', '0', '-1', '9007199254740991'];
  for (const [index, categoryId] of digits.entries()) {
    const expected = `{"id":${index + 1},"name":"Rex","categoryId":${categoryId}}`;
    t.equal((await request('/v1/pets', post(`{"name":"Rex","categoryId":${categoryId}}`))).text, expected);
    t.equal((await request(`/v1/pets/${index + 1}`)).text, expected);
  }
});

t.test('POST /pets without a body gets 400, in whatever way a client sends no body', async (t) => {
  const { request } = await startService(t);
  for (const options of [
    post(undefined),
    post(''),
    post(undefined, { 'content-type': 'application/json' }),
    post(undefined, { 'content-length': '0' }),
    post('', { 'transfer-encoding': 'chunked' }),
  ]) {
    const { status, body } = await request('/v1/pets', options);
    t.equal(status, 400);
    t.match(body, { code: 'invalid_request', message: 'body is missing' });
  }
});

t.test('if a body is not JSON, the error gives the position of the mistake or reports a byte order mark', async (t) => {
  const { request } = await startService(t);
  for (const [body, message] of [
    ['{', 'The body is not well-formed JSON: it ends too early.'],
    ['{"name":"Rex",}', 'The body is not well-formed JSON at character 15.'],
    ['{\n  "name": Rex\n}', 'The body is not well-formed JSON at line 2, character 11.'],
    ['{"a":"\u0007"}', 'The body is not well-formed JSON at character 7.'],
    ['{"a":"\\x"}', 'The body is not well-formed JSON at character 6.'],
    ['\ufeff{}', 'The body begins with a byte order mark: send it without one.'],
  ]) {
    t.match(await request('/v1/pets', post(body)), { status: 400, body: { code: 'malformed_json', message } });
  }
});

t.test(
  'an error reply reports a value of the wrong type only once, even if the value also breaks other keywords',
  async (t) => {
    const { request } = await startService(t);
    const { body } = await request('/v1/pets', post({ name: 'Rex', categoryId: 7, status: null }));
    t.match(body, { message: 'body.status must be of type string' });
  },
);

t.test("a body above the contract's limit gets 413, whether its length is announced or not", async (t) => {
  const { request } = await startService(t);
  const body = { name: 'x'.repeat(17_000), categoryId: 7 };
  for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
    const reply = await request('/v1/pets', post(body, headers));
    t.equal(reply.status, 413);
    t.match(reply.body, { code: 'payload_too_large' });
  }
});

t.test(
  'a POST repeated with its Idempotency-Key gets the first reply, marked as replayed, and adds no second pet',
  async (t) => {
    const { request } = await startService(t);
    const headers = { 'idempotency-key': '~'.repeat(255) };
    const first = await request('/v1/pets', post('{"name":"Rex","categoryId":9007199254740993}', headers));
    t.equal(first.headers['idempotency-replayed'], undefined);
    for (const body of [
      '{"name":"Rex","categoryId":9007199254740993}',
      '{"categoryId": 9007199254740993e0, "name": "\\u0052ex"}',
    ]) {
      const { status, headers: replied, text } = await request('/v1/pets', post(body, headers));
      t.strictSame([status, text, replied.location], [201, first.text, '/v1/pets/1']);
      t.equal(replied['idempotency-replayed'], 'true');
    }
    t.equal((await request('/v1/pets')).text, `[${first.text}]`);
  },
);

t.test(
  'an Idempotency-Key sent with another body gets 422; sent with another API key, it is a different key',
  async (t) => {
    const store = openUrl('sqlite::memory:');
    const key = makeKey('petstore');
    await store.createKey(toStoredKey(key, 'Ada'));
    const { request } = await startService(t, { store, apiKeys: [KEY, `${KEY}-2`] });
    const rex = post({ name: 'Rex', categoryId: 7 }, { 'idempotency-key': 'one' });
    const mia = { ...rex, body: { name: 'Mia', categoryId: 7 } };
    for (const [sent, id] of [
      [rex, 1],
      [{ ...mia, key }, 2],
      [{ ...mia, key: `${KEY}-2` }, 3],
      [rex, 1],
    ] as const) {
      t.match(await request('/v1/pets', sent), { status: 201, body: { id } });
    }
    const refused = await request('/v1/pets', mia);
    t.match(refused, { status: 422, body: { code: 'idempotency_key_reused' } });
    // The server checks the request before the Idempotency-Key, so an invalid request does not use the key up.
    t.equal((await request('/v1/pets', { ...rex, body: { name: '' } })).status, 400);
    t.equal(((await request('/v1/pets')).body as unknown[]).length, 3);
  },
);

t.test('an API key keeps its Idempotency-Keys if its position in API_KEYS changes', async (t) => {
  const store = openUrl('sqlite::memory:');
  const rex = post({ name: 'Rex', categoryId: 7 }, { 'idempotency-key': 'one' });
  for (const apiKeys of [[KEY], ['another-key-0123456789', KEY]]) {
    const { request } = await startService(t, { store, apiKeys });
    t.match((await request('/v1/pets', rex)).body, { id: 1 });
  }
});

t.test('if an operation needs no API key, all callers use the same set of Idempotency-Keys', async (t) => {
  const yaml = edited(({ createPet }) => (createPet.security = []));
  const { request } = await serve(t, yaml, {});
  const rex = { ...post({ name: 'Rex', categoryId: 7 }, { 'idempotency-key': 'one' }), key: null };
  t.match(await request('/v1/pets', rex), { status: 201, body: { id: 1 } });
  t.match(await request('/v1/pets', { ...rex, key: KEY }), { status: 201, body: { id: 1 } });
});

t.test('if a contract does not declare the Idempotency-Key, creates work without one', async (t) => {
  const yaml = edited(({ createPet }) => delete createPet.parameters);
  const { request } = await serve(t, yaml, {});
  t.match(await request('/v1/pets', post({ name: 'Rex', categoryId: 7 })), { status: 201, body: { id: 1 } });
});
