/** The headers of a handler are sent as the contract declares, or the reply is a 500. */
import t from 'tap';
import { operation, serve, withPaths } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';

const header = (schema: Json, others: Json = {}) => ({ description: 'A header.', schema, ...others });
const headers = {
  'X-Short': header({ type: 'string', maxLength: 3 }),
  'X-Kind': header({ type: 'string', enum: ['a', 'b'] }),
  'X-Code': header({ type: 'string', pattern: '^[A-Z]+$' }, { required: true }),
  'X-Info': {
    description: 'A header.',
    content: { 'application/json': { schema: { type: 'object', properties: { size: { type: 'integer' } } } } },
  },
  'X-Note': { description: 'A header.', content: { 'text/plain': {} } },
  'X-Count': header({ type: 'integer', format: 'int64', minimum: 1 }),
};
const text = { content: { 'text/plain': { schema: { type: 'string' } } } };
const YAML = withPaths({
  '/json': {
    get: operation('json', { responses: { '200': { headers, content: { 'application/json': { schema: {} } } } } }),
  },
  '/text': { get: operation('text', { responses: { '200': { headers, ...text } } }) },
});

t.test('if a reply header breaks its schema, the reply is a 500, and the log lists every problem', async (t) => {
  let sent: Json;
  const log: string[] = [];
  const answer = () => ({ status: 200, body: 'x', headers: sent });
  const { request } = await serve(
    t,
    YAML,
    { json: answer, text: answer },
    { log: { write: (line) => log.push(line) } },
  );
  const cases: [sent: Json, ...causes: string[]][] = [
    [{ 'X-Code': 'a' }, 'header.X-Code must match ^[A-Z]+$'],
    [
      { 'X-Code': 'A', 'X-Short': 'long', 'X-Kind': 'c' },
      'header.X-Short must have at most 3',
      'header.X-Kind must be one',
    ],
    [{ 'X-Code': 'A', 'X-Count': 0n }, 'header.X-Count must be at least 1'],
    [{ 'X-Code': 'A', 'X-Info': '{"size":"1"}' }, 'header.X-Info.size must be of type integer'],
    [{ 'X-Code': 'A', 'X-Info': '{' }, 'header.X-Info must be of type object'],
    [undefined, 'header.X-Code is missing'],
  ];
  for (const [broken, ...causes] of cases) {
    for (const url of ['/v1/json', '/v1/text']) {
      sent = broken;
      log.length = 0;
      t.equal((await request(url)).status, 500, url);
      for (const cause of [`has answered 200 against the contract: `, ...causes]) t.match(log.join(), cause);
    }
  }
  sent = { 'X-Code': 'A', 'X-Short': 'é12', 'X-Kind': 'a', 'X-Count': 2n ** 60n, 'X-Info': '{"size":1}' };
  const { status, headers: received } = await request('/v1/json');
  t.strictSame([status, received['x-code'], received['x-count']], [200, 'A', `${2n ** 60n}`]);
  t.equal(received['x-info'], '{"size":1}');
});
