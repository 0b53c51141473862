/** Replies with several declared media types: the handler chooses one, and knows which types the client accepts. */
import t from 'tap';
import { operation, serve, withPaths } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { send } from '../../service.ts';

const ORIGIN = 'https://shop.example';
const LONG = 'application/vnd.shelf+json';
const CSV = 'text/csv';
const shelf = { type: 'object', required: ['size'], properties: { size: { type: 'integer', format: 'int64' } } };
const long = { type: 'object', required: ['sizes'], properties: { sizes: { type: 'array', items: shelf } } };
const content = {
  [CSV]: { schema: { type: 'string' } },
  'application/json': { schema: shelf },
  'Application/Vnd.Shelf+JSON; version=1': { schema: long },
};
const ERROR = { schema: { $ref: '#/components/schemas/Error' } };
const YAML = withPaths({
  '/shelf': {
    get: operation('shelf', {
      responses: {
        '200': { content },
        '304': { description: 'Known.' },
        '404': { content: { 'text/plain': { schema: { type: 'string' } }, 'application/json': ERROR } },
        '406': { content: { 'application/json': ERROR } },
      },
    }),
  },
  '/plain': { get: operation('plain') },
});

/** All tests use one server, whose handlers answer with `answer`. */
let answer: (call: Json) => Json;
const log: string[] = [];
const handlers = { shelf: (call: Json) => answer(call), plain: (call: Json) => answer(call) };
const { app, port } = await serve(t, YAML, handlers, {
  corsOrigins: [ORIGIN],
  log: { write: (line) => log.push(line) },
});
t.beforeEach(() => log.splice(0));

/** Requests a media type. Returns the status, the Content-Type, the Vary header and the body. */
async function ask(accept?: string, url = '/v1/shelf') {
  const { status, headers, text } = await send(port, url, { headers: accept === undefined ? {} : { accept } });
  return [status, headers['content-type'], headers.vary, text];
}

const JSON_TYPE = 'application/json; charset=utf-8';
const CSV_TYPE = 'text/csv; charset=utf-8';
const VARY = 'Origin, Accept';
const SMALL = { size: 2n ** 63n - 1n };
const SMALL_TEXT = '{"size":9223372036854775807}';

t.test(
  'a handler can choose among the declared media types of a reply, each with its own schema; the default is JSON',
  async (t) => {
    const cases: [given: Json, type: string, text: string][] = [
      [{ body: SMALL }, JSON_TYPE, SMALL_TEXT],
      [{ type: 'application/json', body: SMALL }, JSON_TYPE, SMALL_TEXT],
      [{ type: CSV, body: 'size\n1\n' }, CSV_TYPE, 'size\n1\n'],
      [{ type: CSV, body: Buffer.from('size\n') }, CSV_TYPE, 'size\n'],
      [{ type: LONG, body: { sizes: [SMALL] } }, LONG, `{"sizes":[${SMALL_TEXT}]}`],
      [{ type: 'Application/Vnd.Shelf+JSON; version=1', body: { sizes: [] } }, LONG, '{"sizes":[]}'],
    ];
    for (const [given, type, text] of cases) {
      answer = () => ({ status: 200, ...given });
      t.strictSame(await ask(), [200, type, VARY, text], text);
    }
  },
);

t.test(
  "if a handler's body has the wrong type or an undeclared media type, the reply is a 500 and the log explains it",
  async (t) => {
    const cases: [given: Json, line: string][] = [
      [{ type: LONG, body: SMALL }, 'shelf has answered 200 against the contract: body.sizes is missing'],
      [{ type: 'application/json', body: { sizes: [] } }, 'shelf has answered 200 against the contract: body.size'],
      [{ type: CSV, body: SMALL }, 'A reply that is not JSON is made of strings and Uint8Arrays, not of object'],
      [
        { type: 'text/html', body: '' },
        'shelf has answered 200 against the contract: it declares no type text/html for it',
      ],
      [{ status: 304, type: CSV }, 'shelf has answered 304 against the contract: it declares no type text/csv for it'],
      [
        { status: 406, type: CSV, body: '' },
        'shelf has answered 406 against the contract: it declares no type text/csv',
      ],
    ];
    for (const [given, line] of cases) {
      log.splice(0);
      answer = () => ({ status: 200, ...given });
      const [status, type] = await ask();
      t.strictSame([status, type], [500, JSON_TYPE], line);
      t.match(log.join(), line);
    }
  },
);

t.test('the server tells a handler which of several media types the client prefers', async (t) => {
  const bodies: Json = { [CSV]: 'size\n', 'application/json': SMALL, [LONG]: { sizes: [] } };
  answer = ({ accepts }) => {
    const type = accepts('application/json', CSV, LONG);
    if (type) return { status: 200, type, body: bodies[type] };
    return { status: 406, body: { code: 'not_acceptable', message: 'JSON, or CSV.', status: 406 } };
  };
  const cases: [accept: string | undefined, type: string][] = [
    [undefined, JSON_TYPE],
    ['*/*', JSON_TYPE],
    ['text/csv', CSV_TYPE],
    ['TEXT/CSV;header=present', CSV_TYPE],
    ['text/*', CSV_TYPE],
    ['text/csv, application/json', JSON_TYPE],
    ['text/html, text/csv;q=0.5, application/json;q=0.25, */*;q=0.1', CSV_TYPE],
    ['application/json ; q=0 , */*', CSV_TYPE],
    ['application/json;q=0.2, application/*;q=0.9, text/csv;q=0.8', LONG],
    ['application/json;p="a,b;q=1\\"";q=0.1, text/csv;q=0.2', CSV_TYPE],
    ['application/json;q=2, text/csv;q=0.001', CSV_TYPE],
    ['json, text/csv/x, ;q=1, , text/csv;q=0.1', CSV_TYPE],
    ['text/csv;q=0.7, text/csv;header=present;q=0.1, */*;q=0.5', CSV_TYPE],
    ['application/json, application/json;version=2;q=0', JSON_TYPE],
    ['text/csv;header=present;q=0.1, text/csv;header=absent;q=0.3, application/json;q=0.2', CSV_TYPE],
    ['text/csv;q=0.1, text/csv;q=0.3, application/json;q=0.2;', CSV_TYPE],
    [`application/json;q=0.1, ${'a/b, '.repeat(99)}text/csv`, JSON_TYPE],
  ];
  for (const [accept, type] of cases) t.equal((await ask(accept))[1], type, String(accept));
  for (const none of ['image/png', 'csv', '', '*/*;q=0', 'text/csv;q=x', '"text/csv', '"\\']) {
    const [status, , vary] = await ask(none);
    t.strictSame([status, vary], [406, VARY], none);
  }
});

t.test("the server's Vary header also contains the names that a handler puts into the Vary header", async (t) => {
  answer = () => ({ status: 200, body: SMALL, headers: { Vary: 'accept, X-Shelf' } });
  t.equal((await ask())[2], 'Origin, Accept, X-Shelf');
});

t.test(
  'the schema of a reply that is not JSON is ignored, because the server does not check such bodies',
  async (t) => {
    const int64 = { type: 'integer', format: 'int64' };
    const schema = { anyOf: [int64, { type: 'integer' }] };
    const yaml = withPaths({
      '/a': {
        get: operation('a', {
          responses: { '200': { content: { 'application/json': { schema: int64 }, 'application/xml': { schema } } } },
        }),
      },
    });
    const { request } = await serve(t, yaml, { a: () => ({ status: 200, body: 1n }) });
    t.match(await request('/v1/a'), { status: 200, body: 1 });
  },
);

t.test('only replies with several declared media types contain `Vary: Accept`', async (t) => {
  answer = () => ({ status: 200, body: SMALL });
  t.equal((await ask('text/csv', '/v1/plain'))[2], 'Origin');
  answer = () => ({ status: 304 });
  t.equal((await ask())[2], VARY, 'a 304 has the Vary header of its 200');
});

t.test('an error reply is JSON, whatever media types the client accepts', async (t) => {
  const { refuse } = await import('../../../src/contract-first/engine/errors/catalogue.ts');
  answer = () => refuse('pet_not_found', 'None.');
  const [status, type] = await ask('text/plain');
  t.strictSame([status, type], [404, JSON_TYPE]);
  t.equal((await ask('text/csv', '/v1/shelf?x=1'))[1], JSON_TYPE);
});

t.test('the served contract lists all media types of a reply', async (t) => {
  const { paths } = (await app.inject('/openapi.json')).json();
  t.strictSame(paths['/shelf'].get.responses['200'].content, content);
});
