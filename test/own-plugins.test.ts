/** A team's own plugins and routes: what they find, and what holds for them as for operations. */
import { once } from 'node:events';
import type { FastifyInstance, FastifyReply } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import t from 'tap';
import { RequestCounts } from '../src/contract-first/operate/telemetry/request-counts.ts';
import { loadConfig } from './config.ts';
import { connectRaw } from './raw-client.ts';
import { send, startService } from './service.ts';

const FOUND = { decorators: { fastify: ['contractFirst'], request: ['contractFirst'] } };

t.test('a plugin finds collections, services and the caller as decorations, with their types', async (t) => {
  const callers: unknown[] = [];
  const services = { mail: { sender: 'shop@example.com' } };
  const plugin = async (app: FastifyInstance) => {
    app.get('/first', async () => (await app.contractFirst.collections.pets.get(1n))?.read().name ?? 'none');
    app.get('/sender', () => (app.contractFirst.services as typeof services).mail.sender);
    app.addHook('preParsing', async ({ contractFirst }) => void callers.push(contractFirst.caller?.name));
  };
  const { request } = await startService(t, {
    services,
    addPlugins: async (app) => void app.register(fastifyPlugin(plugin, { name: 'own', ...FOUND })),
  });
  t.equal((await request('/first')).text, 'none');
  await request('/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } });
  t.equal((await request('/first')).text, 'Rex');
  t.equal((await request('/sender')).text, 'shop@example.com');
  t.strictSame(callers, [undefined, 'API_KEYS', undefined, undefined]);
});

/** A route that answers when it is told to. */
function buildSlow() {
  let told = (_asked: { reply: FastifyReply }) => {};
  const asked = new Promise<{ reply: FastifyReply }>((resolve) => {
    told = resolve;
  });
  const names: string[] = [];
  const addPlugins = async (app: FastifyInstance) => {
    app.get('/own/:name', (request, reply) => {
      const { name } = request.params as { name: string };
      names.push(name);
      if (name !== 'slow') return { own: true };
      told({ reply });
      return reply;
    });
  };
  return { addPlugins, asked, names };
}

t.test("a plugin's own route is counted by its path, and logged with its id and its caller's address", async (t) => {
  const counts = new RequestCounts((id) => `/${id}`);
  const lines: string[] = [];
  const { port } = await startService(t, { ...buildSlow(), counts, log: { write: (line) => void lines.push(line) } });
  const { headers, text } = await send(port, '/own/7?key=none');
  t.equal(text, '{"own":true}');
  t.match(JSON.parse(lines[0] as string), {
    ...{ reqId: headers['x-request-id'], method: 'GET', url: '/own/7?key=none', ip: '127.0.0.1', status: 200 },
    msg: 'request',
  });
  t.match(counts.durations(), [
    { labels: { http_route: '/own/:name', http_request_method: 'GET', http_response_status_code: 200 } },
  ]);
  t.match(await send(port, '/own/7', { method: 'POST' }), { status: 405, headers: { allow: 'GET, HEAD' } });
});

t.test("a plugin's own route is refused beyond the limits, as any other", async (t) => {
  const { port } = await startService(t, { ...buildSlow(), limits: loadConfig({ MAX_PIPELINED: '1' }) });
  const client = connectRaw(port, 'GET /own/7 HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3));
  t.match(await client.replies(), [{ status: 200 }, { status: 503, text: /"overloaded"/ }]);
});

t.test(
  "the stop waits for a plugin's own route, whose reply closes its connection; nothing behind it is begun",
  async (t) => {
    const slow = buildSlow();
    const stop = { isAsked: false };
    const { app, port } = await startService(t, { ...slow, stop });
    const get = (name: string) => `GET /own/${name} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const client = connectRaw(port, get('slow') + get('behind').repeat(2));
    const { reply } = await slow.asked;
    stop.isAsked = true;
    const closed = app.close();
    const late = connectRaw(port, get('7'));
    await once(late.socket, 'connect');
    reply.send({ own: 'late' });
    t.match(await client.replies(), [{ status: 200, text: '{"own":"late"}', headers: { connection: 'close' } }]);
    t.match(await late.replies(), [{ status: 200, text: '{"own":true}' }]);
    t.strictSame(slow.names, ['slow', '7']);
    await closed;
  },
);
