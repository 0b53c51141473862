/**
 * The list of problems in an error reply: for each mistake of a request its location, its JSON Pointer and the rule
 * that it breaks.
 */
import t from 'tap';
import { operation, serve, withPaths } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { startService } from '../../service.ts';

const INNER = { type: 'object', properties: { 'a/b': { type: 'array', items: { type: 'number', minimum: 3 } } } };
const BODY = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', maxLength: 3 },
    inner: INNER,
    size: { type: 'number', multipleOf: 0.01 },
    kind: { enum: ['cat', { dog: 1 }] },
    id: { type: 'integer', readOnly: true },
    never: false,
  },
};
const FORM = { type: 'object', required: ['title'], properties: { title: { type: 'string' }, inner: INNER } };
const body = (content: Json) => ({ requestBody: { required: true, content } });
const header = { name: 'X-Level', in: 'header', schema: { type: 'integer' } };
const filter = { name: 'filter', in: 'query', content: { 'application/json': { schema: INNER } } };
const YAML = withPaths({
  '/things/{thing}': {
    put: operation('put', {
      parameters: [{ name: 'thing', in: 'path', required: true, schema: { type: 'integer' } }, header, filter],
      ...body({ 'application/json': { schema: BODY } }),
    }),
  },
  '/forms': { post: operation('fill', body({ 'multipart/form-data': { schema: FORM } })) },
});
const handlers = {
  put: async () => ({ status: 200, body: 1 }),
  fill: async (call: Json) => {
    for await (const _ of call.body);
    return { status: 200, body: 1 };
  },
};

const toLines = ({ problems }: Json) => problems.map((one: Json) => `${one.in} ${one.place} ${one.code}`).sort();

t.test('an error reply lists every problem of a request once, both in `problems` and in its message', async (t) => {
  const { request } = await serve(t, YAML, handlers);
  const wrong = {
    name: 'long',
    inner: { 'a/b': [3, '2', 1] },
    size: 0.001,
    kind: 'cow',
    id: 7,
    never: 1,
    'x~y': 1,
  };
  const reply = await request('/v1/things/rex?filter={"a/b":[0.10000000000000001]}&limit=1&limit=2', {
    method: 'PUT',
    body: wrong,
    headers: { 'x-level': ['high', '2'] },
  });
  t.strictSame(toLines(reply.body), [
    'body /id readOnly',
    'body /inner/a~1b/1 type',
    'body /inner/a~1b/2 minimum',
    'body /kind enum',
    'body /name maxLength',
    'body /never not',
    'body /size multipleOf',
    'body /x~0y unknown',
    'header X-Level repeated',
    'header X-Level type',
    'path thing type',
    'query filter inexact',
    'query filter type',
    'query limit repeated',
    'query limit unknown',
  ]);
  const { message, problems } = reply.body as Json;
  t.equal(problems.map((one: Json) => one.message).join('; '), message);
  const without = await request('/v1/things/1', { method: 'PUT' });
  t.match(without.body, { problems: [{ in: 'body', place: '', code: 'required', message: 'body is missing' }] });
  const inexact = await request('/v1/things/1', { method: 'PUT', body: '{"size":[1e400]}' });
  t.strictSame(toLines(inexact.body), ['body /size/0 inexact']);
});

t.test('an error reply lists the problems in the parts of a form, with a JSON Pointer to each', async (t) => {
  const { request } = await serve(t, YAML, handlers);
  const send = async (...parts: [name: string, text: string, type?: string][]) => {
    const text = parts.map(
      ([name, text, type = 'text/plain']) =>
        `--x\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\n\r\n${text}\r\n`,
    );
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    return toLines((await request('/v1/forms', { method: 'POST', body: `${text.join('')}--x--\r\n`, headers })).body);
  };
  t.strictSame(await send(['inner', '{"a/b":[1]}', 'application/json']), ['body /inner/a~1b/0 minimum']);
  t.strictSame(await send(['inner', '{', 'application/json']), ['body /inner syntax']);
  t.strictSame(await send(['inner', '{"a/b":[1e400]}', 'application/json']), ['body /inner/a~1b/0 inexact']);
  t.strictSame(await send(['title', ''], ['title', '']), ['body /title repeated']);
  t.strictSame(await send(), ['body /title required']);
});

t.test(
  'an error reply lists at most twenty problems, and ends the list early if the location of a problem is very long',
  async (t) => {
    const { request } = await serve(t, YAML, handlers);
    const put = (body: unknown) => request('/v1/things/1', { method: 'PUT', body });
    const many = await put({ name: 'a', ...Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`n${n}`, 1])) });
    t.equal((many.body as Json).problems.length, 20);
    t.match((many.body as Json).message, /; and more$/);
    t.strictSame(toLines((await put({ name: 'a', inner: { 'a/b': 1 }, ['x'.repeat(500)]: 1 })).body), [
      'body  unknown',
      'body /inner/a~1b type',
    ]);
  },
);

t.test('an error reply reports an invalid cursor like other problems', async (t) => {
  const { request } = await startService(t);
  const { body } = await request('/v1/pets?after=MjA');
  t.strictSame(toLines(body), ['query after unknown']);
});

t.test("only a 400 lists problems, and only if the contract's Error schema has a list for them", async (t) => {
  const { request } = await startService(t);
  t.notHas((await request('/v1/pets/1')).body, { problems: [] });
  const older = await serve(
    t,
    withPaths({}, ({ schemas }) => delete schemas.Error.properties.problems),
    {},
    { toErrorBody: ({ code, message, status }) => ({ code, message, status }) },
  );
  t.strictSame(Object.keys((await older.request('/v1/pets?limit=0')).body as Json), ['code', 'message', 'status']);
});
