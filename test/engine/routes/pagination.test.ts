import t from 'tap';
import { operation, problemsOf, serve, withPaths } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { edited } from '../../edited-contract.ts';
import { pagesFrom } from '../../service.ts';

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

t.test('a list handler returns the cursor of the next page, and the server links to that page', async (t) => {
  const { request } = await serve(t, list({ 'x-opaque': true }), handlers);
  const { status, headers } = await request('/v1/shops/a%2Fb/notes?page=a&words=x%26&words=y');
  t.equal(status, 200);
  t.equal(headers.link, '</v1/shops/a%2Fb/notes?words=x%26&words=y&page=b%2F2>; rel="next"');
});

t.test(
  'if a handler returns a cursor and the operation has no query parameter for it, the reply is a 500',
  async (t) => {
    const { request } = await serve(t, list({}), handlers);
    const { status, headers } = await request('/v1/shops/a/notes');
    t.equal(status, 500);
    t.notOk(headers.link);
  },
);

t.test(
  'a query parameter named like a cursor, such as `after`, is the cursor of the list, unless its x-opaque is false',
  async (t) => {
    for (const name of ['after', 'cursor', 'pageToken', 'starting_after', 'next-page-token', 'marker']) {
      const { request } = await serve(t, list({ name }), handlers);
      t.equal((await request('/v1/shops/a/notes')).headers.link, `</v1/shops/a/notes?${name}=b%2F2>; rel="next"`, name);
    }
    const { request } = await serve(t, list({ name: 'after', 'x-opaque': false }), handlers);
    t.equal((await request('/v1/shops/a/notes')).status, 500);
    const date = { name: 'after', schema: { type: 'string', format: 'date' } };
    t.match(await problemsOf(t, list(date)), [
      /parameter after: cannot be the cursor MSA: .* "date" \(write x-opaque: false if it is not the cursor of a page\)$/,
    ]);
    t.strictSame(await problemsOf(t, list({ ...date, 'x-opaque': false })), []);
  },
);

t.test(
  'a client can read every page of stored records, even if the contract does not mark the cursor with x-opaque',
  async (t) => {
    const yaml = edited(({ after }) => delete after['x-opaque']);
    const { request } = await serve(t, yaml, {});
    for (const name of ['Ada', 'Rex', 'Tom'])
      await request('/v1/pets', { method: 'POST', body: { name, categoryId: 1 } });
    const names: string[] = [];
    for await (const { status, body } of pagesFrom(request, '/v1/pets?limit=1')) {
      t.equal(status, 200);
      names.push(...(body as Json[]).map(({ name }) => name));
    }
    t.strictSame(names, ['Ada', 'Rex', 'Tom']);
  },
);

t.test('if a handler sends its own Link header, the server keeps it', async (t) => {
  const headers = { Link: '</first>; rel="first"' };
  const { request } = await serve(t, list({ 'x-opaque': true }), {
    listNotes: async () => ({ status: 200, body: [], headers }),
  });
  t.equal((await request('/v1/shops/a/notes')).headers.link, headers.Link);
});
