import t from 'tap';
import { operation, problemsOf, serve, withPaths } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';

const BIG = '9007199254740993';

const parameters = [
  { name: 'If-None-Match', in: 'header', schema: { type: 'string', pattern: '^"[a-z]+"$' } },
  { name: 'X-Note', in: 'header', required: true, schema: { type: 'string', maxLength: 8 } },
  { name: 'X-Owner', in: 'header', schema: { type: 'integer', format: 'int64' } },
  { name: 'X-Level', in: 'header', schema: { type: 'integer', minimum: 1, default: 3 } },
  { name: 'X-Since', in: 'header', schema: { type: 'integer', format: 'int64', default: 5 } },
  { name: 'toString', in: 'header', schema: { type: 'boolean' } },
];
const YAML = withPaths({ '/echoes': { get: operation('echo', { parameters, responses: { '304': {} } }) } });

t.test('a handler gets header parameters by their names in the contract, with their types', async (t) => {
  const given: object[] = [];
  const { request } = await serve(t, YAML, {
    echo: ({ headers }) => {
      given.push({ ...headers });
      return headers['If-None-Match'] === '"abc"' ? { status: 304 } : { status: 200, body: {} };
    },
  });
  const headers = { 'x-note': 'k 1', 'X-OWNER': BIG, 'x-level': '7', ToString: 'true', Other: 'yes' };
  t.equal((await request('/v1/echoes', { headers })).status, 200);
  const kept = await request('/v1/echoes', { headers: { 'X-Note': '', 'If-None-Match': '"abc"' } });
  t.match(kept, { status: 304, text: '' });
  const expected: object[] = [
    { 'X-Note': 'k 1', 'X-Owner': BigInt(BIG), 'X-Level': 7, 'X-Since': 5n, toString: true },
    { 'X-Note': '', 'If-None-Match': '"abc"', 'X-Level': 3, 'X-Since': 5n },
  ];
  t.strictSame(given, expected);
});

t.test('header parameters that break their schemas get one 400 that lists all mistakes', async (t) => {
  const { request } = await serve(t, YAML, { echo: () => ({ status: 200, body: {} }) });
  const headers = { 'if-none-match': ['"a"', '"b"'], 'x-owner': '1.0', 'x-level': '0' };
  const { status, body } = await request('/v1/echoes?q=1', { headers });
  t.equal(status, 400);
  t.strictSame((body as { message: string }).message.split('; ').sort(), [
    'header.If-None-Match is given more than once',
    'header.X-Level must be at least 1',
    'header.X-Note is missing',
    'header.X-Owner must be a 64-bit integer, -9223372036854775808 to 9223372036854775807',
    'query.q is not a known query parameter',
  ]);
  for (const text of ['18446744073709550592.1', '1.0000000000000000001', '1e-400']) {
    const { body } = await request('/v1/echoes', { headers: { 'x-note': '', 'x-level': text } });
    t.match(body, { message: 'header.X-Level must be of type integer' }, text);
  }
});

t.test(
  'the build reports an x-idempotency-hours that is not a number of hours or belongs to another parameter',
  async (t) => {
    const needed = (hours: unknown) =>
      `x-idempotency-hours is ${JSON.stringify(hours)}, and must be a whole number of hours, 1 to 8760000`;
    for (const [name, hours, problem] of [
      ['Idempotency-Key', 0, needed(0)],
      ['Idempotency-Key', '24', needed('24')],
      ['Idempotency-Key', 1.5, needed(1.5)],
      ['Idempotency-Key', 8_760_001, needed(8_760_001)],
      ['X-Note', 24, 'x-idempotency-hours is for the header Idempotency-Key only'],
    ] as const) {
      const parameters = [{ name, in: 'header', schema: { type: 'string' }, 'x-idempotency-hours': hours }];
      const yaml = withPaths({ '/echoes': { get: operation('echo', { parameters }) } });
      t.strictSame(await problemsOf(t, yaml), [`operation echo: parameter ${name}: ${problem}`]);
    }
  },
);

t.test('a handler gets the Idempotency-Key, its caller and its lifetime in one object', async (t) => {
  const usual = { name: 'idempotency-key', in: 'header', schema: { type: 'string' } };
  const parameters = [{ ...usual, 'x-idempotency-hours': 2 }];
  const yaml = withPaths({
    '/usual': { get: operation('usual', { parameters: [usual] }) },
    '/echoes': { get: operation('echo', { parameters }) },
    '/open': { get: operation('open', { parameters, security: [] }) },
  });
  const tell = ({ idempotency = null }: Json) => ({ status: 200, body: { idempotency } });
  const { request } = await serve(t, yaml, { echo: tell, open: tell, usual: tell });
  const headers = { 'Idempotency-Key': 'k' };
  t.match((await request('/v1/usual', { headers })).body, { idempotency: { key: 'k', hours: 24 } });
  t.match((await request('/v1/echoes', { headers })).body, {
    idempotency: { caller: /^API_KEYS\.[0-9a-f]{8}$/, key: 'k', hours: 2 },
  });
  t.match((await request('/v1/echoes')).body, { idempotency: null });
  t.match((await request('/v1/open', { key: null, headers })).body, {
    idempotency: { caller: '', key: 'k', hours: 2 },
  });
});

t.test('the server ignores parameters named Accept, Content-Type or Authorization, as OpenAPI requires', async (t) => {
  const parameters = ['Accept', 'content-type', 'Authorization'].map((name) => ({
    ...{ name, in: 'header', required: true, schema: { type: 'integer' } },
  }));
  const yaml = withPaths({ '/echoes': { get: operation('echo', { parameters }) } });
  const { request } = await serve(t, yaml, {
    echo: ({ headers }) => ({ status: 200, body: Object.keys(headers).length }),
  });
  t.match(await request('/v1/echoes'), { status: 200, body: 0 });
});
