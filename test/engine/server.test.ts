/** The app as Fastify users see it: its parts are named plugins. */
import t from 'tap';
import { send, startService } from '../service.ts';

t.test('printPlugins() lists the plugins in the order in which they run, with one line per route', async (t) => {
  let routes = 0;
  const { app } = await startService(t, {
    addPlugins: async (own) => void own.addHook('onRoute', () => void routes++),
  });
  const lines = app.printPlugins().trimEnd().split('\n');
  const names = lines.map((line) => line.replace(/^[├└│─┬ ]+| [\d.]+ ms$/g, ''));
  const named = ['root', 'cors', 'plugins', 'contract', '@fastify/bearer-auth', 'operations', 'fastify-openapi-glue'];
  t.strictSame(
    names.filter((name) => name !== 'bound _after'),
    [...named, 'generateRoutes', '@fastify/swagger'],
  );
  // Fastify adds a line for each route, and for each of a few hooks.
  const added = names.filter((name) => name === 'bound _after').length;
  t.ok(routes > 30 && added >= routes && added < routes * 1.5, `${added} lines for ${routes} routes`);
});

t.test('an onRoute hook of a team may give a route its own error handler', async (t) => {
  const { port } = await startService(t, {
    addPlugins: async (app) => {
      app.addHook('onRoute', (route) => {
        if (route.url === '/own') route.errorHandler = (_error, _request, reply) => reply.code(418).send('mine');
      });
      for (const url of ['/own', '/other']) app.get(url, () => Promise.reject(new Error('It fails.')));
    },
  });
  t.match(await send(port, '/own'), { status: 418, text: 'mine' });
  t.match(await send(port, '/other'), { status: 500, text: /"internal_error"/ });
});

t.test(
  "a team's own route uses Fastify's parsers and errors; the contract's routes use those of the engine",
  async (t) => {
    const { port, request } = await startService(t, {
      addPlugins: async (app) => {
        app.post('/own', ({ body }) => ({ body }));
        app.addContentTypeParser('text/csv', { parseAs: 'string' }, async (_request: unknown, body: string) =>
          body.split(','),
        );
      },
    });
    const post = (body: string, type = 'application/json') =>
      send(port, '/own', { method: 'POST', body, headers: { 'content-type': type } });
    t.match(await post('{"a":1,"a":2}'), { status: 200, text: '{"body":{"a":2}}' });
    t.match(await post('a,b', 'text/csv'), { status: 200, text: '{"body":["a","b"]}' });
    t.match(await post('a', 'text/plain'), { status: 200, text: '{"body":"a"}' });
    t.match(await post('{'), { status: 400, text: /"malformed_json"/, headers: { 'x-request-id': /./ } });
    const csv = { method: 'POST', body: 'a,b', headers: { 'content-type': 'text/csv' } };
    t.match(await request('/v1/pets', csv), { status: 415, body: { code: 'unsupported_media_type' } });
    const twice = { method: 'POST', body: '{"name":"a","name":"b","categoryId":1}' };
    t.match(await request('/v1/pets', twice), { status: 400, body: { code: 'malformed_json' } });
  },
);
