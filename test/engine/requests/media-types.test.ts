import t from 'tap';
import { operation, problemsOf, serve, withPaths } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';

const PATCH = 'application/merge-patch+json';
const json = { type: 'object', required: ['size'], properties: { size: { type: 'integer', format: 'int64' } } };
const patch = { type: 'object', properties: { size: { type: ['integer', 'null'], format: 'int64' } } };
const any = { '200': { content: { 'application/json': { schema: {} } } } };

const YAML = withPaths({
  '/both': {
    patch: operation('both', { requestBody: { content: body({ 'application/json': json, [PATCH]: patch }) } }),
  },
  '/patches': { patch: operation('patchOnly', { requestBody: { required: true, content: body({ [PATCH]: patch }) } }) },
  '/plain': {
    put: operation('plain', { requestBody: { required: true, content: body({ 'application/json': json }) } }),
  },
  '/shelves': {
    get: operation('shelf', {
      responses: {
        '200': { content: body({ 'application/vnd.shelf+json': json }) },
        '4XX': { content: body({ 'application/json': { $ref: '#/components/schemas/Error' } }) },
        '418': { content: body({ 'application/problem+json': { type: 'object' } }) },
      },
    }),
  },
});

function body(schemas: Record<string, Json>): Json {
  return Object.fromEntries(Object.entries(schemas).map(([type, schema]) => [type, { schema }]));
}

const typed = (type: string, text: unknown, method = 'PATCH') => ({
  method,
  body: text,
  headers: { 'content-type': type },
});

t.test(
  'each media type of a request body has its own schema, and the handler learns which media type was sent',
  async (t) => {
    const given: Json[] = [];
    const take = ({ contentType, body }: Json) => {
      given.push([contentType, body && { ...body }]);
      return { status: 200, body: {} };
    };
    const { request } = await serve(t, YAML, { both: take, patchOnly: take, plain: take, shelf: take });
    t.equal((await request('/v1/both', typed('application/json', '{"size":1}'))).status, 200);
    t.equal(
      (await request('/v1/both', typed('Application/Merge-Patch+JSON; charset=utf-8', '{"size":null}'))).status,
      200,
    );
    t.equal((await request('/v1/both', { method: 'PATCH' })).status, 200);
    t.equal((await request('/v1/patches', typed(PATCH, '{"size":9007199254740993}'))).status, 200);
    t.strictSame(given, [
      ['application/json', { size: 1n }],
      [PATCH, { size: null }],
      [undefined, undefined],
      [PATCH, { size: 9007199254740993n }],
    ]);
    const refused = async (url: string, options: Json) => ((await request(url, options)).body as Json).message;
    t.equal(await refused('/v1/both', typed('application/json', '{"size":null}')), `body.size ${NO_INT64}`);
    t.equal(await refused('/v1/both', typed('application/json', '{}')), 'body.size is missing');
    t.equal(await refused('/v1/patches', { method: 'PATCH' }), 'body is missing');
  },
);

const NO_INT64 = 'must be a 64-bit integer, -9223372036854775808 to 9223372036854775807';

t.test('an undeclared media type gets 415, after the key is checked and before the body is read', async (t) => {
  const done = () => ({ status: 200, body: {} });
  const { request } = await serve(t, YAML, { both: done, patchOnly: done, plain: done, shelf: done });
  const cases: [url: string, options: Json, types: string][] = [
    ['/v1/patches', typed('application/json', '{}'), PATCH],
    ['/v1/plain', typed(PATCH, '{"size":1}', 'PUT'), 'application/json'],
    ['/v1/pets', typed(PATCH, '{', 'POST'), 'application/json'],
    ['/v1/both', typed('text/plain', '{}'), `application/json or ${PATCH}`],
  ];
  for (const [url, options, types] of cases) {
    const { status, body } = await request(url, options);
    t.strictSame(
      [status, body],
      [415, { code: 'unsupported_media_type', message: `The body must be ${types}.`, status: 415 }],
    );
    t.equal((await request(url, { ...options, key: null })).status, 401);
  }
  t.match(await request('/v1/patches', typed(PATCH, '{')), { status: 400, body: { code: 'malformed_json' } });
});

t.test('a reply has the media type that the contract declares for its status', async (t) => {
  let answer: Json = {};
  const { request } = await serve(t, YAML, {
    ...{ both: () => answer, patchOnly: () => answer, plain: () => answer },
    shelf: () => answer,
  });
  const typeOf = async (given: Json) => {
    answer = given;
    return (await request('/v1/shelves')).headers['content-type'];
  };
  t.equal(await typeOf({ status: 200, body: { size: 1n } }), 'application/vnd.shelf+json');
  t.equal(await typeOf({ status: 418, body: { status: 418 } }), 'application/problem+json');
  t.match(
    await typeOf({ status: 404, body: { code: 'pet_not_found', message: '', status: 404 } }),
    /^application\/json; charset=utf-8$/,
  );
  t.match((await request('/v1/shelves?q=1')).headers['content-type'], /^application\/json/);
});

t.test('if the contract declares a body that nobody can send or read, the build reports it in one line', async (t) => {
  const schema = { type: 'string' };
  const cases: [source: Json, problem: string][] = [
    [
      { requestBody: { 'x-max-bytes': 9, content: body({ 'multipart/form-data': schema }) } },
      'its body: a form needs a schema of type: object with properties',
    ],
    [
      {
        requestBody: {
          content: body({
            'multipart/form-data': {
              type: 'object',
              properties: { tags: { type: 'array', prefixItems: [] } },
            },
          }),
        },
      },
      'its body: field tags of a form needs a schema of simple types, or of an array of them',
    ],
    [
      { responses: { '200': { content: body({ 'image/*': schema }) } } },
      'response 200: image/* is not a media type, such as application/json',
    ],
    [
      { responses: { ...any, '401': { content: body({ 'image/png': {} }) } } },
      'response 401: the server sends its errors as application/json, not image/png',
    ],
  ];
  for (const [source, problem] of cases) {
    t.strictSame(await problemsOf(t, withPaths({ '/a': { post: operation('a', source) } })), [
      `operation a: ${problem}`,
    ]);
  }
});
