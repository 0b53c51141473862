/** `npm run contract:inspect` gives replies that the server itself may send what its errors and headers are. */
import t from 'tap';
import { autofix } from '../../src/contract-first/cli/contract-inspect/autofix/autofix.ts';
import type { Json } from '../any-json.ts';
import { judged } from './judged-contract.ts';

/** A contract with one operation, which replies with these. */
function contractWith(responses: Json, { components = {}, path = '/a' }: Json = {}): Json {
  const described = Object.entries(responses).map(([status, reply]) => [status, { description: '', ...Object(reply) }]);
  const get = { operationId: 'find', responses: Object.fromEntries(described) };
  return { openapi: '3.1.0', info: { title: 'Other', version: '1' }, paths: { [path]: { get } }, components };
}
const repliesOf = (document: Json, path = '/a') => document.paths[path].get.responses;
const of = (schema: Json) => ({ content: { 'application/json': { schema } } });
const image = () => ({ content: { 'image/png': { schema: { type: 'string', format: 'binary' } } } });
const ERROR = { type: 'object', properties: { text: { type: 'string' } } };

t.test('an error of the server that is neither JSON nor text may be JSON, too', async (t) => {
  const document = contractWith({ 200: image(), 400: image(), '5XX': { content: { 'application/xml': {} } } });
  t.match(await judged(t, document), [
    'response 400: the server sends its errors as application/json, not image/png',
    /5XX/,
  ]);
  t.strictSame(autofix(document), [
    "/paths/~1a/get/responses/400/content: application/json is added: the server's own errors are JSON",
    "/paths/~1a/get/responses/5XX/content: application/json is added: the server's own errors are JSON",
  ]);
  t.strictSame(repliesOf(document)[400].content, { ...image().content, 'application/json': {} });
  t.strictSame(repliesOf(document)[200], { description: '', ...image() }, 'others stay');
  t.strictSame(await judged(t, document), []);
});

t.test('it has the schema of the other errors where they all have the same', async (t) => {
  const added = (...errors: Json[]) => {
    const [first, second] = errors.map(of);
    const document = contractWith({ 400: image(), 401: first, 500: second ?? first });
    autofix(document);
    return repliesOf(document)[400].content['application/json'];
  };
  t.strictSame(added(ERROR), { schema: ERROR });
  t.strictSame(added(ERROR, { ...ERROR, required: ['text'] }), {});
});

t.test(
  'errors that are JSON or text stay, and so do those that the server never sends, and those without a body',
  async (t) => {
    const text = { content: { 'text/plain': {}, 'image/png': {} } };
    const json = { content: { 'image/png': {}, '*/*': {} } };
    const document = contractWith({
      400: text,
      401: json,
      402: image(),
      404: image(),
      410: image(),
      500: {},
      503: { content: {} },
    });
    const before = structuredClone(document);
    t.strictSame(autofix(document), []);
    t.strictSame(document, before);
  },
);

t.test('a reply of several operations is set right once, where it is', async (t) => {
  const document = contractWith({}, { components: { responses: { Bad: { description: '', ...image() } } } });
  const ref = { $ref: '#/components/responses/Bad' };
  document.paths['/a'].get.responses = { 400: ref, default: ref };
  t.match(autofix(document), [/^\/components\/responses\/Bad\/content: application\/json is added/]);
});

t.test('a header that the server sends otherwise than it is described is a text', async (t) => {
  const headers = () => ({
    'Retry-After': { schema: { type: 'string', format: 'date-time' } },
    'x-request-id': { schema: { type: 'string', format: 'uuid' } },
    other: { schema: { type: 'string', format: 'date-time' } },
  });
  const document = contractWith({ 200: { headers: headers() }, 503: { headers: headers() } });
  t.match(await judged(t, document), [
    /x-request-id/,
    /x-request-id/,
    /retry-after is sent as 1, but it must match format/,
  ]);
  t.strictSame(autofix(document), [
    '/paths/~1a/get/responses/200/headers/x-request-id/schema is written as type: string: the server sends AZaz09_--1',
    '/paths/~1a/get/responses/503/headers/Retry-After/schema is written as type: string: the server sends 1',
    '/paths/~1a/get/responses/503/headers/x-request-id/schema is written as type: string: the server sends AZaz09_--1',
  ]);
  t.strictSame(repliesOf(document)[503].headers['Retry-After'], { schema: { type: 'string' } });
  t.strictSame(await judged(t, document), []);
});

t.test('a header that fits stays, with all that it says', async (t) => {
  const retry = { 'Retry-After': { required: true, schema: { type: 'integer', maximum: 86400n } }, 'X-Request-Id': {} };
  const document = contractWith({ 429: { headers: retry }, default: { headers: { 'Retry-After': {} } } });
  const before = structuredClone(document);
  t.strictSame(autofix(document), []);
  t.strictSame(document, before);
});

t.test('a Retry-After with a bound of OpenAPI 3.0 stays, and so does one that nothing can be made of', async (t) => {
  const schema = { type: 'integer', minimum: 0, exclusiveMinimum: true };
  const older = { ...contractWith({ 503: { headers: { 'Retry-After': { schema } } } }), openapi: '3.0.3' };
  t.strictSame(autofix(older), []);
  const broken = contractWith({ 503: { headers: { 'Retry-After': { schema: { type: 'string', pattern: '(' } } } } });
  t.strictSame(autofix(broken), []);
});

t.test('a header that an error shares with a reply of handlers stays required there', async (t) => {
  const X = () => ({ required: true, schema: { type: 'string' } });
  const headers = () => ({ 'X-Server': { $ref: '#/components/headers/X' } });
  const document = contractWith({ 200: { headers: headers() } }, { components: { headers: { X: X() } } });
  document.components.responses = { Bad: { description: '', headers: headers() } };
  const bad = { $ref: '#/components/responses/Bad' };
  Object.assign(repliesOf(document), { 400: bad, default: bad });
  t.strictSame(autofix(document), [
    '/components/responses/Bad/headers/X-Server/required is taken out: errors of the server have no such header',
  ]);
  t.strictSame(document.components.responses.Bad.headers, { 'X-Server': { schema: { type: 'string' } } });
  t.strictSame([document.components.headers.X, repliesOf(document)[200].headers], [X(), headers()]);
  t.strictSame(await judged(t, document), []);
});

t.test('a header that errors of the server do not have is not required there', async (t) => {
  const headers = () => ({ 'X-Server': { required: true, schema: { type: 'string' } } });
  const document = contractWith({ 200: { headers: headers() }, default: { headers: headers() } });
  t.match(await judged(t, document), ['response default: header X-Server is required, and not sent']);
  t.match(autofix(document), [
    '/paths/~1a/get/responses/default/headers/X-Server/required is taken out: errors of the server have no such header',
  ]);
  t.strictSame(repliesOf(document)[200].headers, headers());
  t.strictSame(await judged(t, document), []);
});
