import t from 'tap';
import type { Accepted } from '../../../src/contract-first/engine/requests/checks.ts';
import { build, problemsOf } from './built-check.ts';

t.test('a parameter arrives as the type that its schema names', async (t) => {
  const check = build({
    a: { type: 'integer' },
    b: { type: 'number' },
    c: { type: 'boolean' },
    d: { type: 'integer', format: 'int64' },
    e: { type: 'string' },
    f: { type: 'boolean' },
  });
  const query = { a: '5', b: '-1.5', c: 'true', d: '7', e: '5', f: 'false' };
  const values = { a: 5, b: -1.5, c: true, d: 7n, e: '5', f: false };
  t.strictSame({ ...(check({ query }) as Accepted).query }, values);
  t.equal(query.a, '5', 'and what was given stays as it is');
});

t.test('a parameter that is not spelled as its type is named', async (t) => {
  const check = build({ a: { type: 'integer' }, b: { type: 'number' }, c: { type: 'boolean' } });
  t.strictSame(problemsOf(check({ query: { a: '9007199254740993', b: '1e', c: '1' } })), [
    'query.a must be of type integer',
    'query.b must be of type number',
    'query.c must be of type boolean',
  ]);
  t.strictSame(problemsOf(check({})), ['query.a is missing', 'query.b is missing', 'query.c is missing']);
});

t.test('an unknown parameter is named, even if every JavaScript object has a property of that name', async (t) => {
  const check = build({});
  const query = { constructor: '1', toString: ['1', '2'], ...JSON.parse('{"__proto__":"3"}') };
  t.strictSame(problemsOf(check({ query })).sort(), [
    'query.__proto__ is not a known query parameter',
    'query.constructor is not a known query parameter',
    'query.toString is given more than once',
    'query.toString is not a known query parameter',
  ]);
  t.strictSame(problemsOf(build({ constructor: { type: 'string' } })({})), ['query.constructor is missing']);
});

t.test('a body is checked by every keyword of JSON Schema 2020-12, each place named', async (t) => {
  const check = build(
    {},
    {
      type: 'object',
      unevaluatedProperties: false,
      'x-note': 'An extension says nothing about validity.',
      properties: {
        'a/b': { type: 'array', items: { type: 'integer', format: 'int64', minimum: 3 } },
        when: { type: 'string', format: 'date' },
        few: { type: 'array', maxItems: 1, example: [1] },
      },
    },
  );
  const body = { 'a/b': [3, 2, 2 ** 53], when: 'today', few: [1, 2], extra: 1 };
  t.strictSame(problemsOf(check({ body })).sort(), [
    'body.a/b.1 must be at least 3',
    'body.a/b.2 must be a 64-bit integer, -9223372036854775808 to 9223372036854775807',
    'body.extra is not a known field',
    'body.few must have at most 1 items',
    'body.when must match format "date"',
  ]);
  t.strictSame(problemsOf(check({})), []);
});

t.test('a keyword or a format that JSON Schema does not know means nothing, and the lint refuses it', async (t) => {
  const misspelt = { type: 'object', properties: { a: { type: 'string', maxLenght: 3 } } };
  t.throws(() => build({}, misspelt, true), /unknown keyword: "maxLenght"/);
  t.strictSame(problemsOf(build({}, misspelt)({ body: { a: 'Rex' } })), []);
  t.throws(() => build({}, { type: 'string', format: 'datum' }, true), /unknown format "datum"/);
  t.strictSame(problemsOf(build({}, { type: 'string', format: 'datum' })({ body: 'Rex' })), []);
});

t.test('a default fills in what is left out, never what is required', async (t) => {
  const count = { type: 'integer', format: 'int64', default: 3 };
  const properties = { count, name: { type: 'string', default: 'Rex' } };
  const check = build({ needed: count }, { type: 'object', required: ['name'], properties });
  t.strictSame(problemsOf(check({ body: {} })), ['query.needed is missing', 'body.name is missing']);
  t.match(check({ query: { needed: '1' }, body: { name: 'Mia' } }), { body: { name: 'Mia', count: 3n } });
});
