/** Requests that are repeated with their Idempotency-Key after a deploy of the service. */
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import t, { type Test } from 'tap';
import { operation, serve, withPaths } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { openUrl } from '../../database.ts';

const KEY = { name: 'Idempotency-Key', in: 'header', schema: { type: 'string' }, 'x-idempotency-hours': 24 };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/**
 * A contract with defaults wherever they are allowed. The later version has other defaults, and new parameters and
 * fields with defaults.
 */
function toYaml(isLater: boolean): string {
  const size = { type: 'integer', ...(isLater && { format: 'int64' }), default: isLater ? 2 : 1 };
  const color = { type: 'string', default: 'brown' };
  const object = (properties: Json) => ({
    type: 'object',
    properties: { size, ...(isLater && { color }), ...properties },
    additionalProperties: false,
  });
  const name = { type: 'string' };
  const inside = { ...object({ inside: object({}) }), default: isLater ? { size: 6 } : { size: 5 } };
  const schemas = [object({ name, inside, items: { type: 'array', items: object({}) } }), object({ name })] as const;
  const inQuery = (of: string, schema: Json, more: Json = {}) => ({ name: of, in: 'query', schema, ...more });
  return withPaths({
    '/things/{number}': {
      post: operation('addThing', {
        parameters: [
          KEY,
          { name: 'number', in: 'path', required: true, schema: { ...size, default: undefined } },
          inQuery('size', size),
          inQuery('filter', object({}), { style: 'deepObject' }),
          { name: 'X-Size', in: 'header', schema: size },
          ...(isLater ? [inQuery('color', color)] : []),
        ],
        requestBody: {
          'x-max-bytes': 1024 * 1024,
          content: { 'application/json': { schema: schemas[0] }, [FORM['content-type']]: { schema: schemas[1] } },
        },
      }),
    },
  });
}

/** Serves the earlier and the later version on one store. Returns a function for each that sends requests. */
async function serveBoth(t: Test) {
  const store = openUrl('sqlite::memory:');
  const addThing = async ({ body, contentType, idempotency, pets }: Json) => {
    if (contentType === FORM['content-type']) for await (const _part of body);
    const { id } = await pets.create({ name: 'Thing', categoryId: 1n }, { idempotency });
    return { status: 200, body: { id: Number(id), isReplayed: idempotency?.isReplayed } };
  };
  const services = [await serve(t, toYaml(false), { addThing }, { store })];
  services.push(await serve(t, toYaml(true), { addThing }, { store }));
  return services.map(
    ({ request }) =>
      (key: string, url: string, body?: unknown, headers = {}) =>
        request(`/v1/things/${url}`, { method: 'POST', body, headers: { 'idempotency-key': key, ...headers } }),
  ) as [Send, Send];
}
type Send = (key: string, url: string, body?: unknown, headers?: object) => Promise<Json>;

t.test(
  'a retry with the same Idempotency-Key gets the first reply, even after a deploy with new defaults',
  async (t) => {
    const [before, after] = await serveBoth(t);
    const sent: [url: string, body?: unknown, headers?: object][] = [
      ['1'],
      ['1', {}],
      ['1', { inside: {} }],
      ['1', { name: 'a', inside: { inside: {} }, items: [{}, { size: 3 }, {}] }],
      ['1', { size: 9007199254740991, items: [] }],
      ['7?size=3&filter[size]=4', { name: 'a' }],
      ['1', { name: 'a' }, { 'x-size': '3' }],
      ['1', 'name=a', FORM],
    ];
    for (const [index, [url, body, headers]] of sent.entries()) {
      const first = await before(`${index}`, url, body, headers);
      t.match(first, { status: 200, body: { id: index + 1, isReplayed: false } });
      t.match(
        await after(`${index}`, url, body, headers),
        { status: 200, body: { id: index + 1, isReplayed: true } },
        url,
      );
    }
  },
);

t.test(
  'a retry with the same Idempotency-Key may spell its JSON and query differently; a different request is an error',
  async (t) => {
    const [before, after] = await serveBoth(t);
    await before('one', '1?size=2&filter[size]=3', { name: '5', size: 5, items: [{ size: 1 }, { size: 2 }] });
    const same = '{"items" : [{"size":1.0},{"size":2e0}], "size":50e-1, "n\\u0061me":"5"}';
    t.match(await after('one', '1?filter[size]=3&size=2', same), { body: { id: 1, isReplayed: true } });
    const others: [url: string, body: string][] = [
      ['2?size=2&filter[size]=3', same],
      ['1?filter[size]=3', same],
      ['1?size=2&filter[size]=4', same],
      ['1?size=2&filter[size]=3', same.replace('50e-1', '6')],
      ['1?size=2&filter[size]=3', same.replace('"size":50e-1, ', '')],
      ['1?size=2&filter[size]=3', '{"items":[{"size":2},{"size":1}],"size":5,"name":"5"}'],
    ];
    for (const [url, body] of others)
      t.match(
        await after('one', url, body),
        { status: 422, body: { code: 'idempotency_key_reused' } },
        `${url} ${body}`,
      );
  },
);

t.test('handlers get an Idempotency-Key as an object with fast properties in V8', async (t) => {
  let passed: unknown;
  const addThing = async ({ idempotency, pets }: Json) => {
    passed = idempotency;
    const { id } = await pets.create({ name: 'Thing', categoryId: 1n }, { idempotency });
    return { status: 200, body: { id: Number(id) } };
  };
  const { request } = await serve(t, toYaml(false), { addThing }, { store: openUrl('sqlite::memory:') });
  await request('/v1/things/1', { method: 'POST', headers: { 'idempotency-key': 'one' } });
  setFlagsFromString('--allow-natives-syntax');
  t.ok(new Script('(key) => %HasFastProperties(key)').runInThisContext()(passed));
});
