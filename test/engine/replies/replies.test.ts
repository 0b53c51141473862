/** The answer of a handler is sent as the contract declares, or replaced by a 500. */
import t from 'tap';
import { JsonText } from '../../../src/contract-first/json/json-text.ts';
import { serve, withPaths } from '../../added-operations.ts';
import { send as sendTo } from '../../service.ts';
import { type Json, startEcho } from '../routes/echo.ts';

const INT64 = { type: 'integer', format: 'int64' };

/** The schema of a reply with each kind of field. */
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

t.test("if a handler's answer breaks its schema, the reply is a 500, and the log lists every problem", async (t) => {
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

t.test("the server sends a handler's valid answer unchanged, and adds no defaults", async (t) => {
  let answer: Json;
  const { send } = await startEcho(t, { reply: SHELF, answer: () => answer });
  const cases: [answer: Json, text: string][] = [
    [GOOD, '{"code":"A","size":7}'],
    [{ ...GOOD, size: 2n ** 63n - 1n }, '{"code":"A","size":9223372036854775807}'],
    [{ ...GOOD, count: undefined }, '{"code":"A","size":7}'],
    [{ ...GOOD, more: 'x' }, '{"code":"A","size":7,"more":"x"}'],
    [
      { ...GOOD, more: [{ big: 2n ** 60n, none: undefined }] },
      '{"code":"A","size":7,"more":[{"big":1152921504606846976}]}',
    ],
    [JsonText.of('{ "code": "A", "size": 70.00e-1 }'), '{"code":"A","size":7}'],
    [{ ...GOOD, labels: ['"é'], fill: 0.5 }, '{"code":"A","size":7,"fill":0.5,"labels":["\\"é"]}'],
  ];
  for (const [given, text] of cases) {
    answer = given;
    t.equal(await send('1'), text);
  }
});

t.test("the server sends fields that a reply's schema allows without naming them", async (t) => {
  const cat = { type: 'object', required: ['lives'], properties: { lives: INT64 } };
  const dog = { type: 'object', required: ['tricks'], properties: { tricks: { type: 'array', items: cat } } };
  const closed = { type: 'object', properties: { a: INT64 }, additionalProperties: false };
  const reply = {
    type: 'object',
    properties: {
      pet: { oneOf: [cat, dog] },
      two: { type: 'object', minProperties: 2, properties: { a: { type: 'string' } } },
      extras: { type: 'object', additionalProperties: true },
      maps: { type: 'object', properties: { a: INT64 }, additionalProperties: INT64 },
      any: {},
      all: true,
      list: { type: 'array' },
      free: { type: 'object' },
      closed,
    },
  };
  let answer: Json;
  const { send, log } = await startEcho(t, { reply, answer: () => answer });
  const sent = [
    '{"pet":{"tricks":[{"lives":9,"more":1}],"more":1},"more":9007199254740993}',
    '{"two":{"a":"x","b":"y"}}',
    '{"extras":{"a":9007199254740993},"any":[9007199254740993],"all":1,"list":[2],"free":{"b":{"c":null}}}',
    '{"maps":{"a":1,"b":9007199254740993}}',
    '{"closed":{"a":1}}',
  ];
  for (const text of sent) {
    answer = JsonText.of(text).read();
    for (const map of [answer.maps, answer.closed, answer.pet?.tricks[0]])
      for (const [name, value] of Object.entries(map ?? {})) map[name] = BigInt(value as number);
    t.equal(await send('1'), text);
  }
  answer = { closed: { a: 1n, b: 1n } };
  t.match(await send('1'), '"internal_error"');
  t.match(log.join(''), 'body.closed.b is not a known field');
});

t.test(
  "the server checks the JSON that it would write for a handler's answer, not the JavaScript object",
  async (t) => {
    const two = { type: 'object', minProperties: 2, properties: { a: { type: 'string' } } };
    const closed = { type: 'object', required: ['a'], properties: { a: {} }, additionalProperties: false };
    const reply = {
      type: 'object',
      properties: { two, closed, time: { type: 'string', format: 'date-time' }, list: {} },
    };
    let answer: Json;
    const { send } = await startEcho(t, { reply, answer: () => answer });
    class Point {
      a = 'x';
      get b() {
        return 'y';
      }
    }
    const broken = [
      { two: { a: 'x', b: undefined } },
      { two: { a: 'x', b: () => 'y' } },
      { two: { toJSON: () => ({ a: 'x' }), b: 'y' } },
      { two: new Point() },
      { closed: Object.create({ a: 1 }) },
      { time: new Date(Number.NaN) },
    ];
    for (const one of broken) {
      answer = one;
      t.match(await send('1'), '"internal_error"');
    }
    const written: [answer: Json, text: string][] = [
      [{ closed: { a: 1, b: undefined } }, '{"closed":{"a":1}}'],
      [{ time: new Date(0) }, '{"time":"1970-01-01T00:00:00.000Z"}'],
      [{ list: [undefined, new Point(), Symbol('x')] }, '{"list":[null,{"a":"x"},null]}'],
      [{ closed: { a: { big: 2n ** 60n, none: undefined } } }, '{"closed":{"a":{"big":1152921504606846976}}}'],
    ];
    for (const [given, text] of written) {
      answer = given;
      t.equal(await send('1'), text);
    }
  },
);

t.test('an error reply has the Error body even if the contract does not declare its status', async (t) => {
  const post = { operationId: 'echo', responses: { '204': { description: 'Nothing.' } } };
  const { port } = await serve(t, withPaths({ '/echoes': { post } }), { echo: () => ({ status: 204 }) });
  const { status, text } = await sendTo(port, '/v1/echoes?extra=1', { method: 'POST' });
  t.equal(status, 400);
  t.match(JSON.parse(text), { code: 'invalid_request', message: 'query.extra is not a known query parameter' });
});
