/** The server as Fastify's people read it: its parts are plugins, by name. */
import t from 'tap';
import { send, startService } from '../service.ts';

t.test('printPlugins() is a table of contents, in the order of effect', async (t) => {
  const { app } = await startService(t);
  const names = [...app.printPlugins().matchAll(/^[├└]─┬? ?(?:─ )?([a-z-]+)/gm)].map(([, name]) => name);
  t.strictSame(
    names.filter((name) => name !== 'bound'),
    ['cors', 'plugins', 'contract'],
  );
});

t.test("a plugin's route has Fastify's own parsers and its errors, and the contract's routes have ours", async (t) => {
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
});
