import t from 'tap';
import type { Accepted } from '../../../src/contract-first/engine/requests/request-checks.ts';
import { build, problemsOf } from './built-check.ts';

t.test('a handler gets each parameter with the type that its schema declares', async (t) => {
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
  t.equal(query.a, '5', 'a given value stays unchanged');
});

t.test('an unknown keyword or format in a schema has no effect on requests, and the lint reports it', async (t) => {
  const misspelt = { type: 'object', properties: { a: { type: 'string', maxLenght: 3 } } };
  t.throws(() => build({}, misspelt, true), /unknown keyword: "maxLenght"/);
  t.strictSame(problemsOf(build({}, misspelt)({ body: { a: 'Rex' } })), []);
  t.throws(() => build({}, { type: 'string', format: 'datum' }, true), /unknown format "datum"/);
  t.strictSame(problemsOf(build({}, { type: 'string', format: 'datum' })({ body: 'Rex' })), []);
});

t.test('a default in a schema replaces a missing optional value, but never a required one', async (t) => {
  const count = { type: 'integer', format: 'int64', default: 3 };
  const properties = { count, name: { type: 'string', default: 'Rex' } };
  const check = build({ needed: count }, { type: 'object', required: ['name'], properties });
  t.strictSame(problemsOf(check({ body: {} })), ['query.needed is missing', 'body.name is missing']);
  t.match(check({ query: { needed: '1' }, body: { name: 'Mia' } }), { body: { name: 'Mia', count: 3n } });
});
