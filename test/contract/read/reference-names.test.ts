/** A `$ref` need not be a reference: it can be the name of a field, or a part of data. */
import t from 'tap';
import { resolveDocument } from '../../../src/contract-first/contract/read/load-contract.ts';
import { toCurrent } from '../../../src/contract-first/contract/read/normal-form.ts';
import { operation, serve, withPaths } from '../../added-operations.ts';

const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const string = { type: 'string' };

t.test('a field of a body may be named $ref, as in the members of a SCIM group', async (t) => {
  const member = {
    type: 'object',
    properties: { value: string, $ref: { ...string, maxLength: 9 } },
    required: ['$ref'],
  };
  const yaml = withPaths(
    {
      '/groups': {
        post: operation('addGroup', {
          requestBody: json({ type: 'array', items: { $ref: '#/components/schemas/Member' } }),
          responses: { '200': json({ type: 'array', items: { $ref: '#/components/schemas/Member' } }) },
        }),
      },
    },
    ({ schemas }) => (schemas.Member = member),
  );
  const { request } = await serve(t, yaml, { addGroup: ({ body }) => ({ status: 200, body }) });
  const post = (body: unknown) => request('/v1/groups', { method: 'POST', body });
  const members = [{ value: 'a', $ref: '/Users/a' }];
  t.match(await post(members), { status: 200, body: members });
  t.match(await post([{ value: 'a' }]), { status: 400, body: { message: 'body.0.$ref is missing' } });
  t.match(await post([{ $ref: '/Users/abc' }]), { status: 400, body: { message: /^body\.0\.\$ref must have/ } });
  t.equal((await request('/openapi.json')).status, 200);
});

for (const $ref of ['https://example.com/Users/a', '#/components/schemas/Missing', '#/components/schemas/100%']) {
  t.test(`a $ref in an example, a default or a third-party extension is not resolved: ${$ref}`, async (t) => {
    const data = { $ref };
    const schema = {
      type: 'object',
      properties: { a: { type: 'object', default: data } },
      example: data,
      examples: [data],
    };
    const reply = { ...json(schema), 'x-note': data };
    Object.assign(reply.content['application/json'], { examples: { one: { value: data } }, 'x-note': [data] });
    const yaml = withPaths({
      '/notes': { get: operation('listNotes', { 'x-note': { a: data }, responses: { '200': reply } }) },
    });
    const { request } = await serve(t, yaml, { listNotes: () => ({ status: 200, body: { a: data } }) });
    t.match(await request('/v1/notes'), { status: 200, body: { a: data } });
  });
}

t.test("a $ref to an example is resolved, but a $ref in the example's value is not", (t) => {
  const value = { $ref: '#/components/schemas/Missing' };
  const content = { 'application/json': { schema: {}, examples: { one: { $ref: '#/components/examples/A' } } } };
  const paths = { '/a': { get: { operationId: 'getA', responses: { '200': { description: 'A.', content } } } } };
  const document = { openapi: '3.1.1', paths, components: { examples: { A: { summary: 'A.', value } } } };
  const problems: string[] = [];
  const resolved = resolveDocument(document as never, (problem) => problems.push(problem));
  t.strictSame(problems, []);
  t.match(resolved.paths['/a']?.get?.responses, {
    '200': { content: { 'application/json': { examples: { one: { summary: 'A.', value } } } } },
  });
  t.end();
});

t.test(
  'a $ref in a response with the name default is resolved, because it is not part of a default value',
  async (t) => {
    const schema = { type: 'string', nullable: true };
    const [source, wanted] = [schema, { type: ['string', 'null'] }].map((schema) => ({
      openapi: '3.1.1',
      paths: {
        '/a': { get: { responses: { default: { description: 'A.', content: { 'text/plain': { schema } } } } } },
      },
      components: { responses: { default: { description: 'A.', content: { 'text/plain': { schema } } } } },
    }));
    t.strictSame(toCurrent(source as object), wanted);
  },
);

t.test("fields next to a parameter's $ref are ignored, as OpenAPI requires", async (t) => {
  const beside = { $ref: '#/components/parameters/word', required: true, 'x-note': 'A.' };
  const yaml = withPaths({ '/words': { get: operation('listWords', { parameters: [beside] }) } }, ({ components }) => {
    components.parameters = { word: { name: 'word', in: 'query', schema: string } };
  });
  const { request } = await serve(t, yaml, { listWords: () => ({ status: 200, body: [] }) });
  t.equal((await request('/v1/words')).status, 200);
});
