/** The types of handlers for operations that the pet store's contract does not have, and for third-party contracts. */
import t from 'tap';
import { buildTypes } from '../../src/contract-first/cli/generate/contract-types.ts';
import { buildHandlersMap } from '../../src/contract-first/cli/generate/service-files.ts';
import { load } from '../added-operations.ts';
import { buildDiagnose, diagnoseAnswers, read, TYPES } from '../compiler.ts';
import { changed, OTHERS } from '../other-contracts.ts';

/** The contract's types with one more operation. */
const withOperation = (operation: string) =>
  read(TYPES).replace('export interface operations {', `export interface operations {\n${operation}`);

const NO_PARAMETERS = '{ query?: never; header?: never; path?: never; cookie?: never }';

t.test('a handler that uses an optional body without a check for undefined does not compile', async (t) => {
  const body = "content: { 'application/json': string }";
  const types = (requestBody: string) =>
    withOperation(`greet: { parameters: ${NO_PARAMETERS}; ${requestBody}: { ${body} };
      responses: { 200: { headers: { [name: string]: unknown }; ${body} } } };`);
  const optional = types('requestBody?');
  const given: [string, string] = ['greet', "{ status: 200, body: call.body ?? 'Hello!' }"];
  const assumed: [string, string] = ['greet', '{ status: 200, body: call.body.trim() }'];
  t.strictSame(diagnoseAnswers([given, assumed], optional), ['', "'call.body' is possibly 'undefined'."]);
  t.strictSame(diagnoseAnswers([given, assumed], types('requestBody')), ['', '']);
});

t.test('a handler that answers with a body does not compile if the contract declares no content', async (t) => {
  const types = withOperation(`feedPet: { parameters: ${NO_PARAMETERS}; requestBody?: never;
    responses: { 204: { headers: { [name: string]: unknown }; content?: never } } };`);
  const [right, wrong] = diagnoseAnswers(
    [
      ['feedPet', '{ status: 204 }'],
      ['feedPet', '{ status: 204, body: pet }'],
    ],
    types,
  );
  t.equal(right, '');
  t.match(wrong, 'UnfitAnswer<"feedPet: 204.body has another type than in the contract">');
});

t.test("if a reply is not JSON, the handler's body must be text, bytes, or a stream of either", async (t) => {
  const replies = "200: { headers: { [name: string]: unknown }; content: { 'text/csv': string } }";
  const types = withOperation(
    `table: { parameters: ${NO_PARAMETERS}; requestBody?: never; responses: { ${replies} } };`,
  );
  const stream = (chunk: string) => `(async function* () { yield ${chunk}; })()`;
  const right = ["'id'", "Buffer.from('id')", stream("'id'"), stream("Buffer.from('id')"), 'process.stdin'];
  const wrong = ['7', '{ id: 1 }', stream('7'), "JsonText.of<string>('1')"];
  const answers = [...right, ...wrong].map((body): [string, string] => ['table', `{ status: 200, body: ${body} }`]);
  const messages = diagnoseAnswers(answers, types);
  t.strictSame(messages.splice(0, right.length), Array(right.length).fill(''));
  for (const message of messages)
    t.match(message, 'UnfitAnswer<"table: 200.body has another type than in the contract">');
});

t.test('a handler gets a form as an iterable of fields and files, and an image as an iterable of bytes', async (t) => {
  const bytes = 'AsyncIterable<Uint8Array>';
  const form = `{ photo: ${bytes}; more?: ${bytes}[]; petId?: bigint; tags?: ('a' | 'b')[] }`;
  const body = `content: { 'image/png': unknown; 'multipart/form-data': ${form} }`;
  const types = withOperation(`send: { parameters: ${NO_PARAMETERS}; requestBody: { ${body} };
    responses: { 204: { headers: { [name: string]: unknown }; content?: never } } };`);
  const isForm = "call.contentType === 'multipart/form-data'";
  const take = (run: string) => `if (${isForm}) for await (const part of call.body) { ${run} } return { status: 204 };`;
  const right = [
    `if (!(${isForm})) for await (const chunk of call.body) chunk.subarray(1); return { status: 204 };`,
    take("if (part.name === 'petId') { const id: bigint = part.value; }"),
    take("if (part.name === 'tags') { const tag: 'a' | 'b' = part.value; }"),
    take(
      "if (part.name === 'photo' || part.name === 'more') for await (const chunk of part.content) chunk.subarray(1);",
    ),
  ];
  const wrong = [
    take('part.value'),
    take("if (part.name === 'petid') return { status: 204 };"),
    take('part.subarray(1);'),
  ];
  const messages = diagnoseAnswers(
    [...right, ...wrong].map((answer) => ['send', answer]),
    types,
  );
  t.strictSame(messages.splice(0, right.length), ['', '', '', '']);
  for (const message of messages) t.match(message, /does not exist on type|have no overlap/);
});

t.test("if a status has several media types, a handler's body must fit the media type that it names", async (t) => {
  const content = "content: { 'text/csv': string; 'application/json': { id: bigint }; 'application/a+json': { a: 1 } }";
  const replies = `200: { headers: { [name: string]: unknown }; ${content} };
    204: { headers: { [name: string]: unknown }; content?: never };
    404: { headers: { [name: string]: unknown }; content: { 'application/json': string } };
    409: { headers: { [name: string]: unknown }; content: { 'text/csv': string; 'text/plain': string } };
    410: { headers: { [name: string]: unknown }; content: { '*/*': { id: bigint }; 'text/plain': string } };
    412: { headers: { [name: string]: unknown }; content: { '*/*': { b: 1 }; 'Application/JSON; charset=utf-8': { id: bigint }; 'application/json': { id: bigint } } };
    413: { headers: { [name: string]: unknown }; content: { 'application/json': { a?: 1; b?: 1 }; 'text/json': { b?: 1; c?: 1 } } }`;
  const types = withOperation(
    `table: { parameters: ${NO_PARAMETERS}; requestBody?: never; responses: { ${replies} } };`,
  );
  const right = [
    "{ status: 200, type: 'application/json', body: { id: 1n } }",
    "{ status: 200, type: 'application/a+json', body: { a: 1 } }",
    "{ status: 200, type: 'text/csv', body: 'id' }",
    "{ status: 404, type: 'application/json', body: '' }",
    "{ status: 409, body: '' }",
    "{ status: 409, type: 'text/plain', body: '' }",
    '{ status: 410, body: { id: 1n } }',
    '{ status: 412, body: { id: 1n } }',
    "{ status: 412, type: 'application/json', body: { id: 1n } }",
    '{ status: 413, body: { b: 1 } }',
    "{ status: 413, type: 'text/json', body: { c: 1 } }",
    "{ status: 410, type: 'application/json', body: { id: 1n } }",
    "if (call.accepts('text/csv', 'application/json') === 'text/csv') return { status: 200, type: 'text/csv', body: '' }; return { status: 410, body: { id: 1n } };",
    "const type: 'text/csv' | 'application/a+json' | undefined = call.accepts('text/csv', 'application/a+json'); return { status: 204 };",
  ];
  const wrong: [answer: string, message: string][] = [
    [
      "{ status: 200, type: 'text/html', body: '' }",
      'UnfitAnswer<"table: 200.type has another type than in the contract">',
    ],
    ["{ status: 200, body: 'id' }", 'UnfitAnswer<"table: 200.body'],
    ['{ status: 200, body: { id: 1n } }', 'UnfitAnswer<"table: 200.body'],
    ['{ status: 412, body: { b: 1 } }', 'UnfitAnswer<"table: 412.body'],
    ["{ status: 200, type: 'text/csv', body: { id: 1n } }", 'UnfitAnswer<"table: 200.body has another type than'],
    ["{ status: 200, type: 'application/a+json', body: { id: 1n } }", 'UnfitAnswer<"table: 200.body.id is not in the'],
    [
      "{ status: 200, type: 'application/json', body: { id: 1n, a: 1 } }",
      'UnfitAnswer<"table: 200.body.a is not in the',
    ],
    ["{ status: 204, type: 'text/csv' }", 'UnfitAnswer<"table: 204.type'],
    ["{ status: 404, type: 'text/csv', body: '' }", 'UnfitAnswer<"table: 404.type has another type than'],
    ["{ status: 410, type: 'text/plain', body: { id: 1n } }", 'UnfitAnswer<"table: 410.body has another type than'],
    [
      "if (call.accepts('text/html')) return { status: 204 }; return { status: 204 };",
      '\'"text/html"\' is not assignable',
    ],
  ];
  const answers = [...right, ...wrong.map(([answer]) => answer)].map((answer): [string, string] => ['table', answer]);
  const messages = diagnoseAnswers(answers, types);
  t.strictSame(messages.splice(0, right.length), Array(right.length).fill(''));
  for (const [index, message] of messages.entries())
    t.match(message, wrong[index]?.[1] as string, answers[index + right.length]?.[1] as string);
});

/** Files that use the contract's types. */
const TYPED = [
  'src/generated/handlers.ts',
  'src/contract-first/engine/errors/catalogue.ts',
  'src/errors.ts',
  'src/pets/domain.ts',
  'src/contract-first/engine/routes/handler.ts',
];

const toHandler = (id: string) => `import { handle, notImplemented } from 'contract-first';
export default handle('${id}', notImplemented);
`;

/**
 * A domain file that the team forgot to delete. The new contract may have a `Pet` of its own, so this file refers to an
 * absent schema.
 */
const LEFT_BEHIND = read('src/pets/domain.ts').replace(/(?<=')(?=(New)?Pet')/g, 'Absent');

t.test('the generated handlers that answer 501 compile for each third-party contract of the tests', async (t) => {
  const diagnose = buildDiagnose({ noUnusedLocals: false });
  for (const [name, { toErrorBody }] of Object.entries(OTHERS)) {
    const contract = await load(t, changed(name));
    const ids = [...contract.operations.keys()];
    const texts = {
      ...Object.fromEntries(ids.map((id) => [`handlers/${id}.ts`, toHandler(id)])),
      'src/generated/contract.ts': (await buildTypes(contract.document)).text,
      'src/generated/handlers.ts': buildHandlersMap(contract).text,
      'src/pets/domain.ts': LEFT_BEHIND,
      'src/errors.ts': `import type { ToErrorBody } from './contract-first/engine/errors/error-body.ts';\nexport const toErrorBody: ToErrorBody = ${toErrorBody};\n`,
    };
    const files = [...ids.map((id) => `handlers/${id}.ts`), ...TYPED];
    t.strictSame([...diagnose(files, texts)], [], name);
  }
});
