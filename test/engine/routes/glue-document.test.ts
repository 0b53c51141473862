/**
 * fastify-openapi-glue gets a document that it can handle: without schemas that would be endless as a tree, and without
 * extensions that it would interpret.
 */
import type { FastifyInstance, RouteOptions } from 'fastify';
import t from 'tap';
import { operation, serve, withPaths } from '../../added-operations.ts';

const refer = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: object) => ({ content: { 'application/json': { schema } } });

/** Schemas that each refer twice to the next one: as a tree, 40 of them have 2^40 nodes. */
const LEVELS = Array.from({ length: 40 }, (_, level): [string, object] => [
  `Level${level}`,
  {
    type: 'object',
    additionalProperties: false,
    properties: { left: refer(`Level${level + 1}`), right: refer(`Level${level + 1}`) },
  },
]);
const NODE = { type: 'object', properties: { value: { type: 'integer' }, next: refer('Node'), other: refer('Node') } };
const SCHEMAS = { ...Object.fromEntries(LEVELS), Level40: { type: 'string', maxLength: 3 }, Node: NODE };
const PATHS = {
  '/levels': { post: operation('levels', { requestBody: json(refer('Level0')) }) },
  '/nodes': { post: operation('nodes', { requestBody: json(refer('Node')) }) },
  '/inside': { post: operation('inside', { requestBody: json({ type: 'array', items: refer('Level1') }) }) },
};

t.test(
  'Fastify plugins do not see schemas of more than 1,000 nodes, but the server checks requests against all of them',
  async (t) => {
    const schemas = new Map<string, unknown>();
    const addPlugins = async (app: FastifyInstance) =>
      void app.addHook('onRoute', ({ url, schema }: RouteOptions) => {
        if (url.startsWith('/v1/')) schemas.set(url, Object(schema).body?.content['application/json'].schema);
      });
    const yaml = withPaths(PATHS, (parts) => Object.assign(parts.schemas, SCHEMAS));
    const answer = () => ({ status: 200, body: {} });
    const { request } = await serve(t, yaml, { levels: answer, nodes: answer, inside: answer }, { addPlugins });
    t.same(schemas.get('/v1/levels'), {});
    t.same(schemas.get('/v1/inside'), { type: 'array', items: {} });
    t.match(schemas.get('/v1/nodes'), { properties: { value: { type: 'integer' }, next: { $ref: '#' } } });

    const post = async (path: string, body: unknown) => (await request(path, { method: 'POST', body })).status;
    const deep = (text: string) => LEVELS.reduce<unknown>((inside) => ({ left: inside }), text);
    t.equal(await post('/v1/levels', deep('abc')), 200);
    t.equal(await post('/v1/levels', deep('abcd')), 400);
    t.equal(await post('/v1/inside', [{ right: 1 }]), 400);
    t.equal(await post('/v1/nodes', { next: { value: 'x' } }), 400);
  },
);

t.test(
  'operations may have any extension fields; Fastify plugins see only those that cannot cause errors',
  async (t) => {
    const words: Record<string, unknown> = {
      ...{ 'x-null': null, 'x-text': 'a', 'x-none': { content: null }, 'x-odd': { content: 'text' } },
      ...{ 'x-nested': { content: { a: null } }, 'x-list': [null], 'x-no-fastify-config': true },
    };
    const routes = new Map<string, object>();
    const addPlugins = async (app: FastifyInstance) =>
      void app.addHook('onRoute', ({ url, schema }: RouteOptions) => void routes.set(url, Object(schema)));
    const entries = Object.entries(words).map(([word, value], index): [string, object] => [
      `/words${index}`,
      { get: operation(`words${index}`, { [word]: value }) },
    ]);
    const handlers = Object.fromEntries(entries.map((_, index) => [`words${index}`, () => ({ status: 200, body: 1 })]));
    const { request } = await serve(t, withPaths(Object.fromEntries(entries)), handlers, { addPlugins });
    for (const [index, word] of Object.keys(words).entries())
      t.equal((await request(`/v1/words${index}`)).status, 200, word);
    t.match(routes.get('/v1/words1'), { 'x-text': 'a' });
    t.match(routes.get('/v1/words5'), { 'x-list': [null] });
  },
);
