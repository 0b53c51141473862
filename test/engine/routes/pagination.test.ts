import t from 'tap';
import { operation, serve, withPaths } from '../../added-operations.ts';

const responses = {
  '200': {
    headers: { Link: { schema: { type: 'string' } } },
    content: { 'application/json': { schema: {} } },
  },
};
const list = (query: object) =>
  withPaths({
    '/shops/{shop}/notes': {
      get: operation('listNotes', {
        parameters: [
          { name: 'shop', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'words', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
          { name: 'page', in: 'query', schema: { type: 'string' }, ...query },
        ],
        responses,
      }),
    },
  });
const handlers = { listNotes: async () => ({ status: 200, body: [], next: 'b/2' }) };

t.test('the answer of a list names the cursor of the next page, and the server links to it', async (t) => {
  const { request } = await serve(t, list({ 'x-opaque': true }), handlers);
  const { status, headers } = await request('/v1/shops/a%2Fb/notes?page=a&words=x%26&words=y');
  t.equal(status, 200);
  t.equal(headers.link, '</v1/shops/a%2Fb/notes?words=x%26&words=y&page=b%2F2>; rel="next"');
});

t.test('an answer cannot name a next page where no query parameter takes its cursor', async (t) => {
  const { request } = await serve(t, list({}), handlers);
  const { status, headers } = await request('/v1/shops/a/notes');
  t.equal(status, 500);
  t.notOk(headers.link);
});

t.test('a handler may link to other pages, too', async (t) => {
  const headers = { Link: '</first>; rel="first"' };
  const { request } = await serve(t, list({ 'x-opaque': true }), {
    listNotes: async () => ({ status: 200, body: [], headers }),
  });
  t.equal((await request('/v1/shops/a/notes')).headers.link, headers.Link);
});
