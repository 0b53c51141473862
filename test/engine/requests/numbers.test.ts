/** Numbers in requests: each number keeps its digits or is rejected. None is rounded silently. */
import fc from 'fast-check';
import t from 'tap';
import type { Accepted } from '../../../src/contract-first/engine/requests/request-checks.ts';
import { buildChecks } from '../../../src/contract-first/engine/schema/checks.ts';
import { buildWriteJson } from '../../../src/contract-first/engine/schema/json-writers.ts';
import { parseExactJson } from '../../../src/contract-first/json/exact-json.ts';
import { problemsOf } from '../../added-operations.ts';
import { type Json, startEcho, withEcho } from '../routes/echo.ts';
import { build, problemsOf as refusedFor } from './built-check.ts';

/** Numbers that no double prints as. */
const INEXACT = ['1e400', '-1e400', '1e-400', '0.12345678901234567', '0.10000000000000001', '1234567890123456.75'];
const WHOLE = ['12345678901234567890', '-9007199254740993', '18446744073709551616', `1${'0'.repeat(300)}7`];

/**
 * Builds a function that parses and checks a request body. It returns the body that a handler gets and the reply that
 * sends this body back, or the problem.
 */
function buildTake(schema: Json): (text: string) => { body?: Json; written?: string; problem?: string } {
  const check = build({}, schema);
  const write = buildWriteJson(schema);
  return (text) => {
    const checked = check({ body: parseExactJson(text) });
    const [problem] = refusedFor(checked);
    if (problem !== undefined) return { problem };
    const { body } = checked as Accepted;
    return { body, written: write(body) };
  };
}

t.test(
  'if a request body has no schema, the handler gets every integer; other numbers that a double cannot hold get 400',
  async (t) => {
    const list = { type: 'array' };
    const free = [
      { type: 'object', additionalProperties: true },
      {},
      { not: { type: 'string' } },
      { properties: { a: {}, list } },
    ];
    for (const schema of free) {
      const take = buildTake(schema);
      for (const number of WHOLE) {
        const text = `{"a":${number},"list":[${number}]}`;
        const { body, written } = take(text);
        t.equal(written, text);
        t.equal(body.a, BigInt(number));
      }
      for (const number of INEXACT)
        t.throws(() => take(`{"list":[${number}]}`), /^has the number .* kept exactly/, number);
    }
  },
);

t.test('type: number and type: integer accept exactly the numbers that a double can hold, of any size', async (t) => {
  const fields = { number: { type: 'number' }, integer: { type: ['integer', 'null'], maximum: 1e300 } };
  const take = buildTake({ type: 'object', properties: fields });
  const whole = ['9007199254740992', '1e16', '10000000000000000', '1152921504606847000', '1e19', '1e23', '-1e300'];
  for (const number of whole) {
    for (const field of Object.keys(fields)) {
      t.equal(take(`{"${field}":${number}}`).body[field], Number(number), `${field} ${number}`);
    }
  }
  for (const number of [...WHOLE, '18446744073709551615', '1152921504606846976', '4611686018427387904']) {
    t.equal(take(`{"number":${number}}`).problem, 'body.number must be of type number');
    t.equal(take(`{"integer":${number}}`).problem, 'body.integer must be of type integer,null');
  }
  for (const small of [7, null]) t.equal(take(`{"integer":${small}}`).body.integer, small);
  t.equal(take('{"integer":"7"}').problem, 'body.integer must be of type integer,null');
  t.equal(take('{"integer":2e300}').problem, 'body.integer must be at most 1e+300');
  t.equal(take('{"integer":1.5}').problem, 'body.integer must be of type integer,null');
  t.equal(take(`{"number":1${'0'.repeat(308)}}`).body.number, 1e308);
  t.equal(take(`{"number":2${'0'.repeat(308)}}`).problem, 'body.number must be of type number');
});

t.test(
  'wherever a request contains a number, the handler gets it with every digit, or the reply is a 400',
  async (t) => {
    const number = { type: 'number' };
    const taking = ['12345678901234567890', '4611686018427387904', '4611686018427388000', '1e300', '7'];
    const within: [schema: Json, toText: (number: string) => string, refused: string[]][] = [
      [{ anyOf: [number, {}] }, (text) => text, []],
      [
        { if: { type: 'string' }, else: {}, dependentSchemas: { b: { properties: { a: number } } } },
        (text) => `{"a":${text}}`,
        [],
      ],
      [{ properties: { kind: {} }, anyOf: [{ properties: { size: number } }, {}] }, (text) => `{"size":${text}}`, []],
      [{ anyOf: [{ type: 'array', items: number }, { type: 'array' }] }, (text) => `[[${text}],${text}]`, []],
      [{ additionalProperties: { items: number } }, (text) => `{"a":[${text}]}`, taking.slice(0, 2)],
      [{ prefixItems: [{ type: ['integer', 'string'] }] }, (text) => `[${text}]`, taking.slice(0, 2)],
    ];
    for (const [schema, toText, refused] of within) {
      const take = buildTake(schema);
      for (const text of taking) {
        const { written, problem } = take(toText(text));
        t.equal(problem !== undefined, refused.includes(text), `${JSON.stringify(schema)} ${text}`);
        // 1e300 is printed with all its digits where the schema keeps integers of any size.
        if (!problem && text !== '1e300') t.equal(written, toText(text));
      }
    }
    const check = build({ size: number, count: { type: 'integer' } });
    for (const text of taking.slice(0, 2)) {
      t.strictSame(refusedFor(check({ query: { size: text, count: text } })), [
        'query.size must be of type number',
        'query.count must be of type integer',
      ]);
    }
  },
);

t.test('the handler gets every number that a double can hold exactly as the client sent it', async () => {
  const take = buildTake({ type: 'array', items: { type: 'number' } });
  const doubles = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value));
  fc.assert(
    fc.property(fc.array(doubles), (sent) => {
      const text = JSON.stringify(sent);
      return JSON.stringify(JSON.parse(take(text).written as string)) === text;
    }),
    { seed: 1 },
  );
});

t.test(
  'an integer above 2^53 fits no smaller format, and is compared exactly even if its schema has no type',
  async (t) => {
    const properties = {
      small: { type: 'integer', format: 'int32' },
      least: { minimum: 5, multipleOf: 2 },
      more: { exclusiveMinimum: 5 },
      one: { enum: [1e16, 'x'] },
      other: { not: { type: 'integer' } },
    };
    const take = buildTake({ type: 'object', properties });
    t.equal(take('{"small":1e16}').problem, 'body.small must be of type integer');
    t.equal(take('{"least":-12345678901234567890}').problem, 'body.least must be at least 5');
    t.equal(take('{"more":-12345678901234567890}').problem, 'body.more must be more than 5');
    t.equal(take('{"least":12345678901234567891}').problem, 'body.least must be multiple of 2');
    t.equal(take('{"least":12345678901234567890}').written, '{"least":12345678901234567890}');
    t.equal(take('{"one":10000000000000000}').written, '{"one":10000000000000000}');
    t.equal(take('{"one":10000000000000002}').problem, 'body.one must be one of 10000000000000000, x');
    t.equal(take('{"other":1e16}').problem, 'body.other must NOT be valid');
  },
);

t.test('the server checks multipleOf in decimal arithmetic, without rounding errors', async (t) => {
  const price = { type: 'number', multipleOf: 0.01 };
  const properties = { price, least: { type: 'integer', multipleOf: 3 }, tiny: { type: 'number', multipleOf: 1e-300 } };
  const take = buildTake({ type: 'object', properties });
  const isPrice = (text: string) => take(`{"price":${text}}`).problem === undefined;
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 45 }), fc.nat({ max: 99 }), fc.integer({ min: 1, max: 9 }), (whole, cents, more) => {
      const text = `${whole}.${`${cents}`.padStart(2, '0')}`;
      return isPrice(text) && isPrice(`-${text}`) && (text.length > 12 || !isPrice(`${text}${more}`));
    }),
    { seed: 1 },
  );
  for (const number of ['19.99', '0.07', '1e21']) t.ok(isPrice(number), number);
  t.equal(take('{"price":1e-7}').problem, 'body.price must be multiple of 0.01');
  t.equal(take('{"least":7}').problem, 'body.least must be multiple of 3');
  t.equal(take('{"least":9,"tiny":1e300}').written, '{"least":9,"tiny":1e+300}');
});

t.test('a number in a parameter may have an exponent, as JavaScript prints it', async (t) => {
  const check = build({ number: { type: 'number' }, integer: { type: 'integer' } });
  const take = (number: string, integer = '1') => check({ query: { number, integer } });
  for (const number of [1e-7, 1.5e-300, 1e21, 5e-324, 0.1, 1e16, -2.5]) {
    t.equal((take(String(number)) as Accepted).query.number, number);
  }
  for (const text of ['1e', '.5', '+1', '1e400', '0.10000000000000001', '12345678901234567891', 'Infinity', '0x1']) {
    t.strictSame(refusedFor(take(text)), ['query.number must be of type number'], text);
  }
  t.equal((take('1', '10000000000000000') as Accepted).query.integer, 1e16);
  for (const text of ['1e2', '9007199254740993']) {
    t.strictSame(refusedFor(take('1', text)), ['query.integer must be of type integer'], text);
  }
});

t.test(
  'a number that would lose digits gets a 400 that suggests the nearest number; amounts of money are accepted',
  async (t) => {
    const properties = { price: { type: 'number', multipleOf: 0.01 } };
    const { send } = await startEcho(t, { body: { type: 'object', properties } });
    const problem = 'body.price has the number 0.10000000000000001, which cannot be kept exactly: a double is 0.1';
    t.equal(await send('{"price":0.10000000000000001}'), problem);
    t.equal(await send('1e400'), 'body has the number 1e400, which cannot be kept exactly');
    t.equal(await send('{"price":19.99}'), '{"price":19.99}');
  },
);

t.test('bounds and defaults are exact up to the limits of int64 and of doubles', async (t) => {
  const int64 = '"type":"integer","format":"int64"';
  const body = `{"type":"object","properties":{
    "wide":{${int64},"minimum":-9223372036854775808,"maximum":9223372036854775807,"default":9223372036854775807},
    "less":{${int64},"exclusiveMaximum":9223372036854775807,"minimum":-9223372036854775807},
    "free":{"maximum":9007199254740993},
    "large":{"type":"number","default":100000000000000000},
    "number":{"type":"number","minimum":-1.7976931348623157e+308,"maximum":1.7976931348623157e+308}}}`;
  const query = `{${int64},"default":-9223372036854775808}`;
  const edit = (yaml: string) => yaml.replaceAll('"BODY"', body).replace('"QUERY"', query);
  const { send, given } = await startEcho(t, { body: 'BODY', reply: {}, q: 'QUERY', edit });
  t.equal(await send('{}'), '{"wide":9223372036854775807,"large":100000000000000000}');
  t.equal(given[0]?.query.q, -(2n ** 63n));
  t.equal(given[0]?.body.wide, 2n ** 63n - 1n);
  t.strictSame(given[0]?.body.large, 1e17);
  const least = '{"wide":-9223372036854775808,"less":9223372036854775806,"number":-1.7976931348623157e+308,"large":1}';
  t.equal(await send(least), least);
  t.equal(await send('{"less":9223372036854775807}'), 'body.less must be less than 9223372036854775807');
  t.equal(await send('{"less":-9223372036854775808}'), 'body.less must be at least -9223372036854775807');
  t.equal(await send('{"free":9007199254740994}'), 'body.free must be at most 9007199254740993');
});

t.test('the server adds no default to a reply, not even the default of a large integer', async (t) => {
  const schema = { type: 'object', properties: { a: { type: 'integer', format: 'int64', default: 2n ** 60n } } };
  const reply = {};
  t.equal(buildChecks()(schema, { name: 'body' }, (words) => t.fail(words))(reply), undefined);
  t.strictSame(reply, {});
});

t.test('if a number in the contract would lose digits, the service does not start', async (t) => {
  const problemsIn = (schema: string) => problemsOf(t, withEcho({ body: 'BODY' }).replaceAll('"BODY"', schema));
  t.match(await problemsIn('{"enum":[9007199254740993]}'), [
    /enum\/0: 9007199254740993 is too large to be kept exactly/,
  ]);
  t.strictSame(await problemsIn('{"type":"integer","maximum":18446744073709551615,"enum":[10000000000000000]}'), []);
});
