/** Forms: each field is checked, also the last one, and no byte changes silently. */
import t from 'tap';
import { operation, serve, withPaths } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { sendRaw } from '../../raw-client.ts';
import { KEY } from '../../service.ts';

const URLENCODED = 'application/x-www-form-urlencoded';
const properties = {
  n: { type: 'integer' },
  text: { type: 'string' },
  list: { type: 'array', items: { type: 'string' } },
  object: { type: 'object', additionalProperties: true },
  file: { type: 'string', format: 'binary' },
};
const { file: _, ...withoutFile } = properties;
const content = {
  [URLENCODED]: { schema: { type: 'object', properties: withoutFile } },
  'multipart/form-data': { schema: { type: 'object', properties } },
};
const parameters = [{ name: 'q', in: 'query', schema: { type: 'string' } }];
const post = operation('fill', { requestBody: { content }, parameters });
const handlers = {
  fill: async ({ query, body }: Json) => {
    const taken: Json[] = [];
    for await (const { name, value, filename } of body) taken.push([name, value ?? filename]);
    return { status: 200, body: [...taken, ...(query.q === undefined ? [] : [query.q])] };
  },
};
const { port, request } = await serve(t, withPaths({ '/forms': { post } }), handlers);

async function fill(body: unknown, type = URLENCODED, search = ''): Promise<Json> {
  const { status, body: answered } = await request(`/v1/forms${search}`, {
    method: 'POST',
    body,
    headers: { 'content-type': type },
  });
  return status === 200 ? answered : (answered as Json).message;
}

const part = (head: string, value: string) => `--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`;
const multipart = (...parts: string[]) =>
  fill(Buffer.from(`${parts.join('')}--x--\r\n`, 'latin1'), 'multipart/form-data; boundary=x');

t.test('the server checks the last field of a form like any other field', async (t) => {
  for (const text of ['n=x', 'n=x&', 'text=a&n=x', 'n=x&text=a']) {
    t.equal(await fill(text), 'body.n must be of type integer', text);
  }
  t.equal(await fill('text=a&unknown=1'), 'body.unknown is not a known field');
  t.equal(await fill('n=1&n=2'), 'body.n is given more than once');
  t.equal(await multipart(part('name="n"', 'x')), 'body.n must be of type integer');
  t.strictSame(await fill('text=a&n=1'), [
    ['text', 'a'],
    ['n', 1],
  ]);
});

t.test(
  'a list in a form with one item more than allowed is an error, even if the list is the last field',
  async (t) => {
    const items = (length: number) => Array.from({ length }, () => 'list=a').join('&');
    t.equal((await fill(items(1000))).length, 1000);
    t.equal(await fill(items(1001)), 'body.list must have at most 1000 items');
  },
);

t.test('bytes that are not UTF-8 in a field or a file name of a form get 400', async (t) => {
  const problem = 'body.text has bytes that are not UTF-8';
  for (const text of ['text=%FF', 'text=a%C3', 'text=%ED%A0%80&n=1', 'text=%EF%BF%BD%FF']) {
    t.equal(await fill(text), problem, text);
  }
  t.equal(await multipart(part('name="text"', '\xff')), problem);
  t.equal(await multipart(part('name="text"', 'caf\xe9'), part('name="n"', '1')), problem);
  const unnamed = 'body.file has bytes that are not UTF-8';
  for (const name of ['filename="a\xff.png"', 'filename="\xef\xbf\xbd\xff"', "filename*=UTF-8''%FF"]) {
    t.equal(await multipart(part(`name="file"; ${name}`, 'x')), unnamed, name);
  }
  t.equal(await fill('t%FFxt=a'), 'body.t\xffxt has bytes that are not UTF-8');
  t.equal(await multipart(part('name="t\xffxt"', 'a')), 'body.t\xffxt has bytes that are not UTF-8');
  t.strictSame(await fill('text=%C3%A9+%F0%9F%98%80'), [['text', 'é 😀']]);
  t.strictSame(await multipart(part('name="file"; filename="\xc3\xa9.png"', '\xff')), [['file', 'é.png']]);
});

t.test('fields and file names of a form may contain U+FFFD and U+FEFF like any other character', async (t) => {
  t.strictSame(await fill('text=%EF%BF%BD%EF%BB%BF'), [['text', '\ufffd\ufeff']]);
  t.strictSame(await multipart(part('name="text"', '\xef\xbb\xbf\xef\xbf\xbd')), [['text', '\ufeff\ufffd']]);
  t.strictSame(await multipart(part('name="file"; filename="\xef\xbf\xbd"', '')), [['file', '\ufffd']]);
});

t.test('a form or one of its fields may declare the character encoding of its text', async (t) => {
  const typed = (charset: string, value: string) =>
    multipart(part(`name="text"\r\nContent-Type: text/plain; charset=${charset}`, value), part('name="n"', '1'));
  t.strictSame(await typed('ISO-8859-1', 'caf\xe9'), [
    ['text', 'café'],
    ['n', 1],
  ]);
  t.match(await typed('"utf-8"', '\xef\xbf\xbd'), [['text', '\ufffd']]);
  t.equal(await typed('utf-8', 'caf\xe9'), 'body.text has bytes that are not UTF-8');
  t.equal(await typed('no-such', 'a'), 'body.text has bytes that are not NO-SUCH');
  t.strictSame(await fill('text=caf%E9', `${URLENCODED}; charset=iso-8859-1`), [['text', 'café']]);
  t.equal(await fill('text=caf%E9', `${URLENCODED}; charset=utf-8`), 'body.text has bytes that are not UTF-8');
});

t.test('if the JSON in a form contains a number that cannot be kept exactly, the error names the number', async (t) => {
  const problem = 'body.object.a has the number 1e400, which cannot be kept exactly';
  t.equal(await fill('object={"a":1e400}'), problem);
});

t.test('a query that is not UTF-8 or has invalid percent-encoding gets 400', async (t) => {
  for (const search of ['?q=%FF', '?q=%ED%A0%80', '?q=%zz', '?q=a%', '?%C3=1']) {
    t.equal(await fill('n=1', URLENCODED, search), 'The URL is not well-formed.', search);
  }
  t.strictSame(await fill('', URLENCODED, '?q=%C3%A9+%25'), ['é %']);
  const head = `Host: x\r\nAuthorization: Bearer ${KEY}\r\nConnection: close\r\n\r\n`;
  const raw = Buffer.from(`GET /v1/pets?after=\xc3\xa9 HTTP/1.1\r\n${head}`, 'latin1');
  t.match(await sendRaw(port, raw), [{ status: 400 }]);
});
