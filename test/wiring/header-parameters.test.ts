import t from 'tap';
import { operation, problemsOf, serve, withPaths } from '../added-operations.ts';

const BIG = '9007199254740993';

const parameters = [
  { name: 'If-None-Match', in: 'header', schema: { type: 'string', pattern: '^"[a-z]+"$' } },
  { name: 'Idempotency-Key', in: 'header', required: true, schema: { type: 'string', maxLength: 8 } },
  { name: 'X-Owner', in: 'header', schema: { type: 'integer', format: 'int64' } },
  { name: 'X-Level', in: 'header', schema: { type: 'integer', minimum: 1, default: 3 } },
  { name: 'X-Since', in: 'header', schema: { type: 'integer', format: 'int64', default: 5 } },
  { name: 'toString', in: 'header', schema: { type: 'boolean' } },
];
const YAML = withPaths({ '/echoes': { get: operation('echo', { parameters, responses: { '304': {} } }) } });

t.test('a handler is given its header parameters, with their types, by the names of the contract', async (t) => {
  const given: object[] = [];
  const { request } = await serve(t, YAML, {
    echo: ({ headers }) => {
      given.push({ ...headers });
      return headers['If-None-Match'] === '"abc"' ? { status: 304 } : { status: 200, body: {} };
    },
  });
  const headers = { 'idempotency-key': 'k 1', 'X-OWNER': BIG, 'x-level': '7', ToString: 'true', Other: 'yes' };
  t.equal((await request('/v1/echoes', { headers })).status, 200);
  const kept = await request('/v1/echoes', { headers: { 'Idempotency-Key': '', 'If-None-Match': '"abc"' } });
  t.match(kept, { status: 304, text: '' });
  const expected: object[] = [
    { 'Idempotency-Key': 'k 1', 'X-Owner': BigInt(BIG), 'X-Level': 7, 'X-Since': 5n, toString: true },
    { 'Idempotency-Key': '', 'If-None-Match': '"abc"', 'X-Level': 3, 'X-Since': 5n },
  ];
  t.strictSame(given, expected);
});

t.test('a header that breaks its schema is refused, with all that is wrong at once', async (t) => {
  const { request } = await serve(t, YAML, { echo: () => ({ status: 200, body: {} }) });
  const headers = { 'if-none-match': ['"a"', '"b"'], 'x-owner': '1.0', 'x-level': '0' };
  const { status, body } = await request('/v1/echoes?q=1', { headers });
  t.equal(status, 400);
  t.strictSame((body as { message: string }).message.split('; ').sort(), [
    'header.Idempotency-Key is missing',
    'header.If-None-Match is given more than once',
    'header.X-Level must be at least 1',
    'header.X-Owner must be a 64-bit integer, -9223372036854775808 to 9223372036854775807',
    'query.q is not a known query parameter',
  ]);
});

t.test('a header that OpenAPI ignores is no parameter', async (t) => {
  const paths = (name: string) => {
    const parameters = [{ name, in: 'header', schema: { type: 'string' } }];
    return { '/echoes': { get: operation('echo', { parameters }) } };
  };
  for (const name of ['Accept', 'content-type', 'Authorization']) {
    t.strictSame(await problemsOf(t, withPaths(paths(name))), [
      `operation echo: parameter ${name}: OpenAPI ignores it in header; remove it`,
    ]);
  }
});
