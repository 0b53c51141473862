/** The types of handlers for contracts with features that the pet store's contract does not use. */
import t from 'tap';
import { parse } from 'yaml';
import { buildTypes } from '../../src/contract-first/cli/generate/contract-types.ts';
import { operation, withPaths } from '../added-operations.ts';
import type { Json } from '../any-json.ts';
import { diagnose, TYPES } from '../compiler.ts';

/** Returns the compiler's messages about handlers of `echo`, for a contract with that operation. */
async function diagnoseEcho(yaml: string, handlers: string[], imported = 'handle'): Promise<string[]> {
  const types = (await buildTypes(parse(yaml))).text;
  const texts = handlers.map((text, index): [string, string] => [
    `handlers/echo${index}.ts`,
    `import { ${imported} } from 'contract-first';\nexport default handle('echo', ${text});`,
  ]);
  return Object.values(diagnose({ ...Object.fromEntries(texts), [TYPES]: types })).slice(0, handlers.length);
}

const echo = (source: Json, item: Json = {}) => withPaths({ '/echoes': { ...item, post: operation('echo', source) } });

/** A handler that answers with this expression, which may use the request body. */
const answerWith = (body: string) => `async ({ body }) => { void body; return { status: 200, body: ${body} }; }`;

t.test('a handler gets header parameters with the types and names of the contract', async (t) => {
  const int64 = { type: 'integer', format: 'int64' };
  const parameters = [
    { name: 'If-None-Match', in: 'header', schema: { type: 'string' } },
    { name: 'X-Owner', in: 'header', required: true, schema: int64 },
    { name: 'X-Level', in: 'header', schema: { type: 'integer', default: 3 } },
  ];
  const ofPath = { parameters: [{ name: 'X-Side', in: 'header', schema: { type: 'boolean', default: false } }] };
  const answer = (value: string) => `async ({ headers }) => ({ status: 200, body: ${value} })`;
  const said = await diagnoseEcho(echo({ parameters }, ofPath), [
    answer("[headers['If-None-Match']?.length, headers['X-Owner'] + 1n, headers['X-Level'] + 1] "),
    answer("headers['X-Side'] satisfies boolean"),
    answer("headers['If-None-Match'].length"),
    answer("headers['x-owner']"),
  ]);
  t.strictSame(said.slice(0, 2), ['', '']);
  t.match(said[2], /is possibly 'undefined'/);
  t.match(said[3], /'x-owner' does not exist/);
});

t.test(
  'a handler may answer with any status of a declared range, such as 4XX, if body and headers fit the range',
  async (t) => {
    const json = (schema: Json) => ({ 'application/json': { schema } });
    const error = { $ref: '#/components/schemas/Error' };
    const responses = {
      '2XX': {
        content: json({ type: 'string' }),
        // A header that is not required may be left out, even if it is declared by a reference.
        headers: { 'X-A': { schema: { type: 'string' } }, RateLimit: { $ref: '#/components/headers/RateLimit' } },
      },
      '4XX': { content: json(error) },
      '422': { content: json({ type: 'boolean' }) },
      '5XX': {},
    };
    const answer = (value: string) => `async () => (${value})`;
    const said = await diagnoseEcho(echo({ responses }), [
      answer("{ status: 202, body: '', headers: { 'X-A': '' } }"),
      answer("{ status: 409, body: { code: 'unavailable', message: '', status: 409 } as const }"),
      answer('{ status: 422, body: true }'),
      answer('{ status: 501 }'),
      answer('{ status: 202, body: 1 }'),
      answer("{ status: 202, body: '', headers: { 'X-B': '' } }"),
      answer("{ status: 409, body: { code: 'unavailable', message: '', status: 409, more: 1 } as const }"),
      answer("{ status: 422, body: { code: 'unavailable', message: '', status: 422 } as const }"),
      answer('{ status: 501, body: 1 }'),
      answer('{ status: 302, body: 1 }'),
    ]);
    t.strictSame(said.slice(0, 4), ['', '', '', '']);
    t.match(said[4], /UnfitAnswer<".*: \d+\.body/);
    t.match(said[5], /\.headers\.X-B is not in the contract/);
    t.match(said[6], /\.body\.more is not in the contract/);
    for (const other of said.slice(7)) t.match(other, /not assignable/);
  },
);

t.test('refuse() compiles for each status that the contract declares, also by a range or default', async (t) => {
  const text = { type: 'string' };
  const problem = { type: 'object', required: ['title'], properties: { title: text, detail: text } };
  const forms: Json[] = [
    { 'application/json': { schema: problem } },
    { 'application/json': { schema: { type: 'object', required: ['error'], properties: { error: problem } } } },
    { 'application/json': { schema: { type: 'array', items: text } } },
    { 'application/problem+json': { schema: problem }, 'application/json': { schema: text } },
    { 'text/plain': { schema: text } },
    {},
  ];
  const refusals = [
    "refuse('not_found', 'No.')",
    "refuse('conflict', 'No.')",
    "refuse('bad_gateway', 'No.')",
    "refuseAt('/body/a', 'unknown', 'is unknown')",
    "body ? { status: 200, body: 1 } : refuse('not_found', 'No.')",
    "{ ...refuse('not_found', 'No.'), headers: { 'X-A': '' } }",
    "{ ...refuse('not_found', 'No.'), headers: { 'X-B': '' } }",
    "{ ...refuse('not_found', 'No.'), headers: 'X-A' }",
    "{ ...refuse('not_found', 'No.'), extra: 1 }",
    "{ status: 404, body: JSON.parse('1') }",
    "{ status: 404, body: { code: 'not_found', message: 'No.', status: 404, more: 1 } as const }",
  ].map((answer) => `async ({ body }) => { void body; return ${answer}; }`);
  const headers = { 'X-A': { schema: text } };
  for (const content of forms) {
    const error = { description: 'An error.', headers, ...(Object.keys(content).length > 0 && { content }) };
    const responses = { '404': error, '4XX': error, default: error };
    const said = await diagnoseEcho(echo({ responses }), refusals, 'handle, refuse, refuseAt');
    t.strictSame(said.splice(0, 6), Array(6).fill(''), JSON.stringify(content));
    for (const [index, fault] of ['headers.X-B', 'headers', 'extra', 'body', 'body'].entries())
      t.match(said[index], `UnfitAnswer<"echo: 404.${fault}`, JSON.stringify(content));
  }
});

t.test('refuse() with an undeclared status is a compile error of one line that names the status', async (t) => {
  const responses = { '400': { $ref: '#/components/responses/InvalidBody' } };
  const declared = parse(echo({ responses }));
  for (const name of ['401', 'default']) delete declared.paths['/echoes'].post.responses[name];
  const bodies = [
    "refuse('invalid_request', 'No.')",
    "refuse('not_found', 'No.')",
    "Math.random() > 0.5 ? { status: 200, body: 1 } : refuse('conflict', 'No.')",
  ];
  const handlers = bodies.map((answer) => `async () => ${answer.startsWith('{') ? `(${answer})` : answer}`);
  const [right, ...wrong] = await diagnoseEcho(JSON.stringify(declared), handlers, 'handle, refuse');
  t.equal(right, '');
  for (const [index, status] of [404, 409].entries())
    t.match(wrong[index], `UnfitAnswer<"echo: the contract declares no status ${status}">`);
});

t.test('if a reply header has JSON content, the handler must answer it as text', async (t) => {
  const schema = { type: 'object', properties: { size: { type: 'integer' } } };
  const info = { content: { 'application/json': { schema } } };
  const headers = { 'X-Info': info, 'X-Other': { $ref: '#/components/headers/X-Other' } };
  const yaml = withPaths({ '/echoes': { post: operation('echo', { responses: { '200': { headers } } }) } }, (parts) => {
    parts.headers['X-Other'] = { ...info, required: true };
    parts.NewPet.properties.headers = { type: 'object', properties: { content: { type: 'string' } } };
  });
  const answer = (value: string) => `async () => ({ status: 200, headers: ${value} })`;
  const [right, wrong, missing] = await diagnoseEcho(yaml, [
    answer(`{ 'X-Info': JSON.stringify({ size: 1 }), 'X-Other': '{}' }`),
    answer(`{ 'X-Info': { size: 1 }, 'X-Other': '{}' }`),
    answer(`{ 'X-Info': '{}' }`),
  ]);
  t.equal(right, '');
  t.match(wrong, /200\.headers\.X-Info/);
  t.match(missing, /200\.headers\.X-Other is missing/);
});

t.test('in a handler, `caller` cannot be undefined if the operation requires an API key', async (t) => {
  const answer =
    'async ({ caller, requestId, log }) => { log.info({ id: requestId }, caller.id); return { status: 200, body: 1 }; }';
  t.strictSame(await diagnoseEcho(echo({}), [answer]), ['']);
  const optional = echo({ security: [{ bearerAuth: [] }, {}] });
  t.strictSame(await diagnoseEcho(optional, [answer.replace('caller.id', "(caller?.id ?? '').trim()")]), ['']);
  t.match(await diagnoseEcho(optional, [answer]), [/'caller' is possibly 'undefined'/]);
  t.match(await diagnoseEcho(echo({ security: [] }), [answer]), [
    /'caller' is possibly 'undefined'|does not exist on type 'never'/,
  ]);
});

t.test('if a body has several media types, a check of contentType narrows the type of the body', async (t) => {
  const json = { type: 'object', required: ['size'], properties: { size: { type: 'integer' } } };
  const patch = { type: 'object', properties: { size: { type: ['integer', 'null'] } } };
  const content = { 'application/json': { schema: json }, 'application/merge-patch+json': { schema: patch } };
  const answer = (text: string) => `async ({ contentType, body }) => { ${text} }`;
  const ask = (required: boolean, texts: string[]) => diagnoseEcho(echo({ requestBody: { required, content } }), texts);
  const done = 'return { status: 200, body: 1 };';
  const [right, wrong, other] = await ask(true, [
    answer(`if (contentType === 'application/json') body.size.toFixed(); else body.size?.toFixed(); ${done}`),
    answer(`body.size.toFixed(); ${done}`),
    answer(`if (contentType === 'text/plain') body.size; ${done}`),
  ]);
  t.equal(right, '');
  t.match(wrong, /possibly/);
  t.match(other, /no overlap/);
  const [absent, present] = await ask(false, [
    answer(`body.size; ${done}`),
    answer(`if (contentType) body.size; ${done}`),
  ]);
  t.match(absent, /'body' is possibly 'undefined'/);
  t.equal(present, '');
});

t.test("a handler's body of another type than its +json reply declares is a compile error", async (t) => {
  const content = { 'application/vnd.a+json': { schema: { type: 'string' } } };
  const [right, wrong] = await diagnoseEcho(echo({ responses: { '200': { content } } }), [
    "async () => ({ status: 200, body: 'a' })",
    'async () => ({ status: 200, body: 1 })',
  ]);
  t.equal(right, '');
  t.match(wrong, /not assignable/);
});

t.test(
  'generated types omit read-only fields in requests and write-only fields in replies, even in recursive schemas',
  async (t) => {
    const account = {
      type: 'object',
      required: ['id', 'name', 'password'],
      properties: {
        id: { $ref: '#/components/schemas/AccountId' },
        name: { type: ['string', 'null'] },
        password: { type: 'string', writeOnly: true },
        hint: { $ref: '#/components/schemas/Hint' },
        friends: { type: 'array', items: { $ref: '#/components/schemas/Account' } },
        free: { type: 'object' },
      },
    };
    const content = { 'application/json': { schema: { $ref: '#/components/schemas/Account' } } };
    const source = { requestBody: { required: true, content }, responses: { 200: { description: 'It.', content } } };
    const document = parse(echo(source));
    Object.assign(document.components.schemas, {
      Account: account,
      AccountId: { type: 'integer', format: 'int64', readOnly: true },
      Hint: { type: 'string', writeOnly: true },
    });
    const answer = (body: string) => `async ({ body }) => ({ status: 200, body: ${body} })`;
    const said = await diagnoseEcho(JSON.stringify(document), [
      answer("{ id: 1n, name: body.name, friends: [{ id: 2n, name: 'b' }], free: { a: 1 } }"),
      answer('{ id: 1n, name: body.password + body.friends?.[0]?.password }'),
      answer("{ id: 1n, name: 'a', password: 'x' }"),
      answer("{ id: 1n, name: 'a', friends: [{ id: 2n, name: 'b', password: 'y' }] }"),
      answer("{ id: body.id, name: 'a' }"),
      answer("{ id: 1n, name: body.hint ?? null, hint: 'x' }"),
    ]);
    t.strictSame(said.slice(0, 2), ['', '']);
    t.match(said[2], /\.body\.password is not in the contract/);
    t.match(said[3], /password is not in the contract/);
    t.match(said[4], /Property 'id' does not exist/);
    t.match(said[5], /\.body\.hint is not in the contract/);
  },
);

t.test('the generated type of a oneOf is a union, even if its alternatives are recursive', async (t) => {
  const field = (value: string) => ({ type: 'string', const: value });
  const schemas = {
    Square: {
      type: 'object',
      required: ['kind', 'side'],
      properties: { kind: field('square'), side: { type: 'number' } },
    },
    Circle: {
      type: 'object',
      required: ['kind', 'radius'],
      properties: { kind: field('circle'), radius: { type: 'number' } },
    },
    Shape: { oneOf: [{ $ref: '#/components/schemas/Square' }, { $ref: '#/components/schemas/Circle' }] },
    Tree: {
      type: 'object',
      required: ['shape'],
      properties: {
        shape: { $ref: '#/components/schemas/Shape' },
        labels: { type: 'array', items: { type: 'string' } },
        trees: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
      },
    },
  };
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Tree' } } };
  const document = parse(
    echo({ requestBody: { required: true, content }, responses: { 200: { description: 'It.', content } } }),
  );
  Object.assign(document.components.schemas, schemas);
  const said = await diagnoseEcho(JSON.stringify(document), [
    answerWith('body'),
    answerWith(
      "{ shape: { kind: 'circle', radius: 1 }, labels: ['a'], trees: [body, { shape: { kind: 'square', side: 1 } }] }",
    ),
    answerWith('body.trees?.[0] ?? body'),
    answerWith("{ shape: { kind: 'circle', side: 1 } }"),
    answerWith("{ shape: { kind: 'circle' } }"),
    answerWith("{ shape: { kind: 'oval', radius: 1 } }"),
    answerWith("{ shape: { kind: 'circle', radius: 1 }, trees: [{ shape: { kind: 'circle', radius: 1, x: 1 } }] }"),
    answerWith("{ shape: { kind: 'circle', radius: 1 }, labels: [1] }"),
    answerWith('[body]'),
    answerWith('{ ...body, trees: body }'),
  ]);
  t.strictSame(said.slice(0, 3), ['', '', '']);
  const reported = [
    '200.body.shape is not what the contract says',
    '200.body.shape is not what the contract says',
    '200.body.shape.kind has another type than in the contract',
    '200.body.trees[].shape.x is not in the contract',
    '200.body.labels[] has another type than in the contract',
    '200.body has another type than in the contract',
    '200.body.trees has another type than in the contract',
  ];
  for (const [index, text] of reported.entries())
    t.equal(said[index + 3]?.includes(`UnfitAnswer<"echo: ${text}">`), true, `${text}: ${said[index + 3]}`);
});

const inBoth = (name: string) => {
  const content = { 'application/json': { schema: { $ref: name } } };
  return { requestBody: { required: true, content }, responses: { 200: { description: 'It.', content } } };
};

t.test('the generated type of a $ref into a schema, a parameter or a reply is that of its target', async (t) => {
  const schemas = {
    Order: {
      type: 'object',
      required: ['id', 'lines', 'kind', 'part', 'total'],
      properties: {
        id: { type: 'integer', format: 'int64' },
        lines: {
          type: 'array',
          items: {
            type: 'object',
            required: ['of'],
            properties: { of: { $ref: '#/components/schemas/Order/properties/id' } },
          },
        },
        first: { $ref: '#/components/schemas/Order/properties/lines/items' },
        kind: { $ref: '#/components/schemas/Order/definitions/Kind' },
        part: { $ref: '#/components/schemas/Order/$defs/Part' },
        total: { $ref: '#/paths/~1totals/get/responses/200/content/application~1json/schema' },
        page: { $ref: '#/components/parameters/Page/content/application~1json/schema' },
      },
      definitions: { Kind: { type: 'string', enum: ['new', 'old'] } },
      $defs: {
        Part: {
          type: 'object',
          properties: { parts: { type: 'array', items: { $ref: '#/components/schemas/Order/$defs/Part' } } },
        },
      },
    },
  };
  const total = { 200: { description: 'It.', content: { 'application/json': { schema: { type: 'boolean' } } } } };
  const document = parse(echo(inBoth('#/components/schemas/Order')));
  document.paths['/totals'] = { get: { operationId: 'getTotal', responses: total } };
  Object.assign(document.components.schemas, schemas);
  const page = { name: 'page', in: 'query', content: { 'application/json': { schema: { type: 'null' } } } };
  document.components.parameters = { ...document.components.parameters, Page: page };
  const said = await diagnoseEcho(JSON.stringify(document), [
    answerWith('body'),
    answerWith(
      "{ id: 1n, lines: [{ of: 1n }], first: { of: 2n }, kind: 'new', part: { parts: [{}] }, total: true, page: null }",
    ),
    answerWith("{ ...body, first: { of: '' } }"),
    answerWith("{ ...body, kind: 'other' }"),
    answerWith('{ ...body, part: { parts: [{ parts: [1] }] } }'),
    answerWith('{ ...body, total: 1 }'),
    answerWith('{ ...body, page: 1 }'),
  ]);
  t.strictSame(said.slice(0, 2), ['', '']);
  const reported = ['first.of', 'kind', 'part.parts[].parts[]', 'total', 'page'];
  for (const [index, field] of reported.entries())
    t.match(said[index + 2], `echo: 200.body.${field} has another type than in the contract`);
});

t.test('generated types compile for an array schema that contains itself, even through other schemas', async (t) => {
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const schemas = {
    Nested: { type: 'array', items: ref('Nested') },
    Value: {
      oneOf: [
        { type: 'string' },
        { type: 'array', items: ref('Value') },
        { type: 'object', additionalProperties: ref('Value') },
      ],
    },
    Pair: { type: ['array', 'null'], prefixItems: [ref('Pair'), { type: 'string' }] },
    One: { allOf: [{ type: 'array', items: { anyOf: [ref('Other'), { type: 'boolean' }] } }] },
    Other: { type: 'array', items: ref('One') },
    All: {
      type: 'object',
      properties: { nested: ref('Nested'), value: ref('Value'), pair: ref('Pair'), one: ref('One') },
    },
  };
  const document = parse(echo(inBoth('#/components/schemas/All')));
  Object.assign(document.components.schemas, schemas);
  const said = await diagnoseEcho(JSON.stringify(document), [
    answerWith('body'),
    answerWith("{ nested: [[], [[]]], value: ['a', [{ a: ['b', {}] }]], pair: [null, 'a'], one: [true, [[false]]] }"),
    answerWith('{ ...body, nested: body.nested?.[0]?.[0] ?? [] }'),
    answerWith("{ nested: [['a']] }"),
    answerWith('{ value: [[{ a: [1] }]] }'),
    answerWith('{ pair: [1] }'),
    answerWith("{ one: [[['a']]] }"),
  ]);
  t.strictSame(said.slice(0, 3), ['', '', '']);
  for (const [index, field] of ['nested[]', 'value[]', 'pair[]', 'one[]'].entries())
    t.match(said[index + 3], `echo: 200.body.${field}`);
});
