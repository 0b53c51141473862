/** `app.inject` serves a request without a socket: in tests, and for plugins that call their own server. */
import type { InjectOptions } from 'fastify';
import t from 'tap';
import { RequestCounts } from '../../../src/contract-first/operate/telemetry/request-counts.ts';
import { KEY, type RequestOptions, send, startService } from '../../service.ts';

const json = { 'content-type': 'application/json' };
const rex = '{"name":"Rex","categoryId":9223372036854775807}';
const create = (body: string, headers = {}) => ({ method: 'POST', body, headers: { ...json, ...headers } });

/** Requests to compare: the URL, and other options. */
const REQUESTS: [url: string, options?: RequestOptions][] = [
  ['/v1/pets', create(rex)],
  ['/v1/pets', create(rex, { 'idempotency-key': 'one' })],
  ['/v1/pets', create(rex, { 'idempotency-key': 'one' })],
  ['/v1/pets', create('{"name":"Mia","categoryId":7}', { 'idempotency-key': 'one' })],
  ['/v1/pets?limit=1'],
  ['/v1/pets?limit=1', { method: 'HEAD' }],
  ['/v1/pets/1'],
  ['/v1/pets/1', { key: null }],
  ['/v1/pets/1', { key: 'wrong' }],
  ['/v1/pets/x'],
  ['/v1/pets/7', { headers: { expect: 'tea' } }],
  ['/v1/pets', create('{')],
  ['/v1/pets', create(`{"name":"${'x'.repeat(20_000)}"}`)],
  ['/v1/pets', { method: 'POST', body: rex, headers: { 'content-type': 'text/plain' } }],
  ['/v1/pets', { method: 'PUT' }],
  ['/v1/pets/%ff'],
  ['/nothing'],
  [`/${'x'.repeat(9000)}`],
  ['/', { headers: { accept: 'text/html' } }],
  ['/docs/'],
  ['/openapi.json', { method: 'HEAD' }],
  ['/livez'],
  ['/readyz', { headers: { host: '/' } }],
];

/** Removes the headers of a reply that belong to its connection or differ in each request. */
function toCompared({ status, headers, text }: { status: number; headers: object; text: string }) {
  const { date, connection, 'keep-alive': kept, 'x-request-id': id, ...others } = headers as Record<string, string>;
  return { status, headers: others, text, hasId: id !== undefined };
}

async function start(t: Parameters<typeof startService>[0]) {
  const lines: string[] = [];
  const service = await startService(t, { log: { write: (line) => void lines.push(line) } });
  /** Resolves with the next line of the log. */
  async function line() {
    while (lines.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    // Left out, because the id of API_KEYS differs in each database.
    const { time, reqId, ms, keyId, ...fields } = JSON.parse(lines.shift() as string);
    return { ...fields, isTimed: ms >= 0 };
  }
  return { ...service, line };
}

t.test('app.inject() gets the same reply and log line as a request over a socket', async (t) => {
  const [over, within] = [await start(t), await start(t)];
  for (const [url, options = {}] of REQUESTS) {
    const { method = 'GET', key = KEY, body, headers } = options;
    const injected = await within.app.inject({
      ...{ url, method: method as 'GET', payload: body as string },
      headers: { ...(key !== null && { authorization: `Bearer ${key}` }), ...headers },
    } satisfies InjectOptions);
    const { statusCode: status, payload: text } = injected;
    const reply = { status, text, headers: injected.headers };
    const sent = await send(over.port, url, options);
    t.strictSame(toCompared(reply), toCompared(sent), `${method} ${url.slice(0, 40)}`);
    t.strictSame(await within.line(), await over.line(), `the line of ${method} ${url.slice(0, 40)}`);
  }
});

t.test(
  'if app.inject() gets no reply, the metrics count the request as aborted; they count other requests by status',
  async (t) => {
    const counts = new RequestCounts((id) => `/${id}`, {});
    const lines: string[] = [];
    const { app } = await startService(t, {
      counts,
      log: { write: (line) => void lines.push(line) },
      addPlugins: async (app) => void app.get('/given-up', (_request, reply) => void reply.raw.destroy()),
    });
    await t.rejects(app.inject('/given-up'), { code: 'LIGHT_ECONNRESET' });
    await app.inject('/livez');
    t.match(
      lines.map((line) => JSON.parse(line).msg),
      ['request aborted', 'request'],
    );
    t.strictSame(
      counts.durations().map(({ labels }) => labels),
      [
        { http_request_method: 'GET', http_route: '/given-up', error_type: 'aborted' },
        { http_request_method: 'GET', http_route: '/livez', http_response_status_code: 200 },
      ],
    );
    t.equal(counts.inFlight, 0);
  },
);
