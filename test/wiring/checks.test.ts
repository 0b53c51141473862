import t from 'tap';
import type { Contract, Operation, Parameter } from '../../src/contract/contract.ts';
import { buildChecks, type Check } from '../../src/wiring/checks.ts';

/** The check of an operation with these query parameters, each required, and this schema of its body. */
function buildCheck(query: Record<string, object>, body?: object): Check {
  const parameters = Object.entries(query).map(
    ([name, schema]): Parameter => ({ name, in: 'query', required: true, schema }),
  );
  const operation = { id: 'op', parameters, body: body && { required: false, schema: body } } as Operation;
  const contract = { document: { parameters, body }, operations: new Map([['op', operation]]) } as unknown as Contract;
  return buildChecks(contract).get('op') as Check;
}

t.test('a parameter arrives as the type that its schema names', async (t) => {
  const check = buildCheck({
    a: { type: 'integer' },
    b: { type: 'number' },
    c: { type: 'boolean' },
    d: { type: 'integer', format: 'int64' },
    e: { type: 'string' },
    f: { type: 'boolean' },
  });
  const query: Record<string, unknown> = { a: '5', b: '-1.5', c: 'true', d: '7', e: '5', f: 'false' };
  t.strictSame(check({ path: {}, query, body: undefined }), []);
  t.strictSame(query, { a: 5, b: -1.5, c: true, d: 7n, e: '5', f: false });
});

t.test('a parameter that is not written as its type is named', async (t) => {
  const check = buildCheck({ a: { type: 'integer' }, b: { type: 'number' }, c: { type: 'boolean' } });
  t.strictSame(check({ path: {}, query: { a: '9007199254740993', b: '1e5', c: '1' }, body: undefined }), [
    'query.a must be of type integer',
    'query.b must be of type number',
    'query.c must be of type boolean',
  ]);
  t.strictSame(check({ path: {}, query: {}, body: undefined }), [
    'query.a is missing',
    'query.b is missing',
    'query.c is missing',
  ]);
});

t.test('a body is checked by every keyword of JSON Schema 2020-12, each place named', async (t) => {
  const check = buildCheck(
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
  t.strictSame(check({ path: {}, query: {}, body }).sort(), [
    'body.a/b.1 must be at least 3',
    'body.a/b.2 must be a 64-bit integer, -9223372036854775808 to 9223372036854775807',
    'body.extra is not a known field',
    'body.few must NOT have more than 1 items',
    'body.when must match format "date"',
  ]);
  t.strictSame(check({ path: {}, query: {}, body: undefined }), []);
});

t.test('a keyword that JSON Schema does not know stops the start', async (t) => {
  t.throws(
    () => buildCheck({}, { type: 'object', properties: { a: { type: 'string', maxLenght: 3 } } }),
    /unknown keyword: "maxLenght"/,
  );
  t.throws(() => buildCheck({}, { type: 'string', format: 'datum' }), /unknown format "datum"/);
});

t.test('a default fills in what is left out, never what is required', async (t) => {
  const count = { type: 'integer', format: 'int64', default: 3 };
  const properties = { count, name: { type: 'string', default: 'Rex' } };
  const check = buildCheck({ needed: count }, { type: 'object', required: ['name'], properties });
  const body = {};
  t.strictSame(check({ path: {}, query: {}, body }), ['query.needed is missing', 'body.name is missing']);
  t.strictSame(body, { count: 3n });
});
