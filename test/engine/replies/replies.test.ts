/** What a handler answers is sent as the contract says, or not at all. */
import t from 'tap';
import { serve, withPaths } from '../../added-operations.ts';
import { send as sendTo } from '../../service.ts';
import { type Json, startEcho } from '../routes/echo.ts';

const INT64 = { type: 'integer', format: 'int64' };

/** A shelf: every kind of field that a reply may have. */
const SHELF = {
  type: 'object',
  required: ['code', 'size'],
  properties: {
    code: { type: 'string', pattern: '^[A-Z]+$' },
    size: INT64,
    count: { type: 'integer', minimum: 0, default: 3 },
    fill: { type: 'number' },
    state: { type: 'string', enum: ['open', 'shut'] },
    labels: { type: 'array', items: { type: 'string' }, maxItems: 2 },
  },
};
const GOOD = { code: 'A', size: 7n };

t.test('an answer that breaks its schema is a 500, and the log has every cause', async (t) => {
  let answer: Json;
  const { send, log } = await startEcho(t, { reply: SHELF, answer: () => answer });
  const cases: [answer: Json, ...causes: string[]][] = [
    [{ ...GOOD, count: 1.5 }, 'body.count must be of type integer'],
    [{ ...GOOD, count: '1' }, 'body.count must be of type integer'],
    [{ ...GOOD, count: -1 }, 'body.count must be at least 0'],
    [{ code: 'A' }, 'body.size is missing'],
    [{ code: 'A', size: undefined }, 'body.size is missing'],
    [{ code: 'A', size: 2n ** 63n }, 'body.size must be a 64-bit integer'],
    [{ code: 'A', size: 2 ** 53 }, 'body.size must be a 64-bit integer'],
    [{ ...GOOD, state: 'ajar' }, 'body.state must be one of open, shut'],
    [{ ...GOOD, state: null }, 'body.state must be of type string'],
    [{ ...GOOD, fill: Number.NaN }, 'body.fill must be of type number'],
    [{ ...GOOD, labels: ['a', 'b', 'c'] }, 'body.labels must have at most 2 items'],
    [{ ...GOOD, labels: ['a', undefined] }, 'body.labels.1 must be of type string'],
    [{ code: 'a', size: 7n, count: 1.5 }, 'body.code must match ^[A-Z]+$', 'body.count must be of type integer'],
    [null, 'body must be of type object'],
  ];
  for (const [broken, ...causes] of cases) {
    answer = broken;
    log.length = 0;
    t.match(await send('1'), '"internal_error"');
    const line = log.find((text) => text.includes('"err"')) ?? '';
    t.match(line, 'echo has answered 200 against the contract: ');
    for (const cause of causes) t.match(JSON.parse(line).err.message, cause);
  }
});

t.test('an answer that fits is sent as it is: no default is filled in, no undeclared field is sent', async (t) => {
  let answer: Json;
  const { send } = await startEcho(t, { reply: SHELF, answer: () => answer });
  const cases: [answer: Json, text: string][] = [
    [GOOD, '{"code":"A","size":7}'],
    [{ ...GOOD, size: 2n ** 63n - 1n }, '{"code":"A","size":9223372036854775807}'],
    [{ ...GOOD, count: undefined, secret: 'x' }, '{"code":"A","size":7}'],
    [{ ...GOOD, labels: ['"é'], fill: 0.5 }, '{"code":"A","size":7,"fill":0.5,"labels":["\\"é"]}'],
  ];
  for (const [given, text] of cases) {
    answer = given;
    t.equal(await send('1'), text);
  }
});

t.test('where one of several alternatives is meant, nothing more is sent either', async (t) => {
  const cat = { type: 'object', required: ['lives'], properties: { lives: INT64 } };
  const dog = { type: 'object', required: ['tricks'], properties: { tricks: { type: 'array', items: cat } } };
  const extras = { type: 'object', additionalProperties: true };
  const reply = {
    type: 'object',
    properties: {
      pet: { oneOf: [cat, dog] },
      extras,
      any: {},
      all: true,
      list: { type: 'array' },
      free: { type: 'object' },
    },
  };
  let answer: Json;
  const { send } = await startEcho(t, { reply, answer: () => answer });
  answer = { pet: { tricks: [{ lives: 9n, secret: 1 }], secret: 1 }, secret: 1 };
  t.equal(await send('1'), '{"pet":{"tricks":[{"lives":9}]}}');
  const free = '{"extras":{"a":9007199254740993},"any":[9007199254740993],"all":1,"list":[2],"free":{"b":{"c":null}}}';
  answer = { extras: { a: 2n ** 53n + 1n }, any: [2n ** 53n + 1n], all: 1, list: [2], free: { b: { c: null } } };
  t.equal(await send('1'), free);
});

t.test('a request is refused with a body also where the contract does not declare the status', async (t) => {
  const post = { operationId: 'echo', responses: { '204': { description: 'Nothing.' } } };
  const { port } = await serve(t, withPaths({ '/echoes': { post } }), { echo: () => ({ status: 204 }) });
  const { status, text } = await sendTo(port, '/v1/echoes?extra=1', { method: 'POST' });
  t.equal(status, 400);
  t.match(JSON.parse(text), { code: 'invalid_request', message: 'query.extra is not a known query parameter' });
});
