import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { buildDiagnose } from '../compiler.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TYPES = 'src/generated/contract.ts';
const MAP = 'src/generated/handlers.ts';
const ERRORS = 'src/http/errors.ts';

const read = (file: string) => readFileSync(ROOT + file, 'utf8');

const compiler = buildDiagnose({ noUnusedLocals: false, noUnusedParameters: false });

/** What the compiler reports for each of these files, which replace the project's; empty for one that compiles. */
function diagnose(sources: Record<string, string>): Record<string, string> {
  const files = Object.keys(sources);
  const none = files.map((file) => [file, '']);
  return { ...Object.fromEntries(none), ...Object.fromEntries(compiler(files, sources)) };
}

/** What the compiler reports for handlers with these answers, each by its number, in one run. */
function diagnoseAnswers(answers: [operation: string, answer: string][], types = read(TYPES)): string[] {
  const handlers = answers.map(([operation, answer], index) => [
    `handlers/answer${index}.ts`,
    `
import { refuse } from '../src/http/errors.ts';
import { handle } from '../src/wiring/handler.ts';
import { JsonText } from '../src/json/json-text.ts';
const pet = { id: 1n, name: 'Rex', categoryId: 7n };
const redPet = { ...pet, colour: 'red' };
const error = { code: 'pet_not_found', message: 'No.', status: 404 } as const;
const location = { Location: '/', 'X-Foo': '1' };
const anything = JSON.parse('1');
export default handle('${operation}', async (call) => {
  ${answer.startsWith('return') || answer.startsWith('if') ? answer : `return ${answer};`}
});
export { anything, error, JsonText, location, redPet, refuse };
`,
  ]);
  return Object.values(diagnose({ ...Object.fromEntries(handlers), [TYPES]: types })).slice(0, answers.length);
}

/** The types of the contract with one more operation. */
const withOperation = (operation: string) =>
  read(TYPES).replace('export interface operations {', `export interface operations {\n${operation}`);

const NO_PARAMETERS = '{ query?: never; header?: never; path?: never; cookie?: never }';

t.test('a handler that answers what the contract declares compiles', async (t) => {
  const right: [operation: string, answer: string][] = [
    ['getPet', '{ status: 200, body: { ...pet, id: call.params.petId } }'],
    ['getPet', '{ status: 404, body: error }'],
    ['getPet', "refuse('pet_not_found', 'No.')"],
    ['getPet', "call.params.petId === 1n ? { status: 200, body: pet } : refuse('pet_not_found', 'No.')"],
    ['getPet', "{ status: 200, body: JsonText.of<typeof pet>('') }"],
    [
      'createPet',
      "{ status: 201, body: { id: 1n, ...call.body }, headers: { Location: call.urlOf('getPet', { petId: 1n }) } }",
    ],
    ['listPets', '{ status: 200, body: [pet].slice(0, call.query.limit), headers: { Link: \'<x>; rel="next"\' } }'],
    [
      'listPets',
      "if (call.query.limit > 1) return { status: 200, body: [] }; return refuse('invalid_request', 'No.');",
    ],
  ];
  for (const [index, message] of diagnoseAnswers(right).entries()) {
    t.equal(message, '', String(right[index]));
  }
});

t.test('a handler that answers anything else does not compile, and the message says why', async (t) => {
  const wrong: [operation: string, answer: string, message: string][] = [
    ['getPet', '{ status: 202, body: pet }', "Type '202' is not assignable to type '\\d+'"],
    ['listPets', "refuse('pet_not_found', 'No.')", "Type '404' is not assignable to type '\\d+'"],
    ['getPet', "refuse('no_such_code', 'No.')", '\'"no_such_code"\' is not assignable'],
    ['getPet', "{ status: 200, body: { ...pet, status: 'lost' } }", "Types of property 'body' are incompatible"],
    ['getPet', '{ status: 200, body: { ...pet, id: 1 } }', "Type 'number' is not assignable to type 'bigint'"],
    ['getPet', "{ status: 200, body: { id: 1n, name: 'Rex' } }", "Property 'categoryId' is missing"],
    ['createPet', '{ status: 201, body: pet }', "Property 'headers' is missing"],
    ['getPet', "{ status: 200, body: call.urlOf('getPet', {}) }", "Property 'petId' is missing"],
    ['getPet', '{ status: 200, body: call.body }', "Type 'undefined' is not assignable"],
    ['listPets', '{ status: 200, body: [{ ...pet, name: call.query.name }] }', "Property 'name' does not exist"],
    ['getPet', '{ status: 200, body: { ...pet, colour: "red" } }', "'body.colour' .* 'NotInTheContract'"],
    ['getPet', '{ status: 200, body: redPet }', "'body.colour' .* 'NotInTheContract'"],
    ['listPets', '{ status: 200, body: [redPet] }', "'colour' .* 'NotInTheContract'"],
    ['getPet', '{ status: 404, body: { ...error, hint: "None." } }', "'body.hint' .* 'NotInTheContract'"],
    ['getPet', "{ status: 200, body: pet, headers: { 'X-Foo': '1' } }", "'headers..X-Foo..' .* 'NotInTheContract'"],
    ['getPet', "{ status: 404, body: error, headers: { 'X-Foo': '1' } }", "'headers..X-Foo..' .* 'NotInTheContract'"],
    ['listPets', "{ ...refuse('invalid_request', ''), headers: { 'X-Foo': '1' } }", "X-Foo.* 'NotInTheContract'"],
    ['getPet', "{ status: 200, body: pet, headers: 'X-Foo: 1' }", "Type 'string' is not assignable to type 'object'"],
    ['getPet', "{ status: 404, body: error, headers: 'X-Foo: 1' }", "Type 'string' is not assignable to type 'object'"],
    [
      'listPets',
      "{ ...refuse('invalid_request', ''), headers: 'X' }",
      "Type 'string' is not assignable to type 'object'",
    ],
    ['createPet', '{ status: 201, body: pet, headers: location }', "'headers..X-Foo..' .* 'NotInTheContract'"],
    [
      'getPet',
      "{ status: 200, body: pet, headers: { Deprecation: '@1' } }",
      "'headers.Deprecation' .* 'NotInTheContract'",
    ],
    ['getPet', '{ status: 404, body: { ...error, status: 400 } }', "Types of property 'status' are incompatible"],
    ['getPet', '{ status: 200, body: JsonText.of(\'{"foo":1}\') }', "'JsonText<unknown>' is not assignable"],
    ['getPet', '{ status: 200, body: new JsonText(\'{"foo":1}\') }', 'Constructor .* is private'],
    ['listPets', '{ status: 200, body: JsonText.of<typeof pet>("") }', "Types of property 'body' are incompatible"],
    ['getPet', '{ status: 200, body: anything }', "Type 'any' is not assignable to type 'never'"],
    ['getPet', 'anything', "Type 'any' is not assignable to type 'never'"],
    ['getPet', '"anything"', "Type 'string' is not assignable"],
    ['getPet', '{ status: 200, body: pet, extra: 1 }', "'extra' .* 'NotInTheContract'"],
    ['getPet', '{ status: 200 }', "Property 'body' is missing"],
    ['feedPet', '{ status: 200, body: pet }', '\'"feedPet"\' is not assignable'],
  ];
  const messages = diagnoseAnswers(wrong.map(([operation, answer]) => [operation, answer]));
  for (const [index, [operation, answer, message]] of wrong.entries()) {
    t.match(messages[index], new RegExp(message), `${operation}: ${answer}`);
  }
});

t.test('an optional body may be undefined', async (t) => {
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

t.test('an answer has no body when the contract has no content', async (t) => {
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
  t.match(wrong, "Types of property 'body' are incompatible");
});

t.test('an answer that is not JSON is text, bytes or a stream of them', async (t) => {
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
  for (const message of messages) t.match(message, "Types of property 'body' are incompatible");
});

t.test('a body that is not JSON is an iterable of bytes, or of the parts of a form', async (t) => {
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

t.test('every file of handlers/ is the handler of the operation that it is named after, made by handle', async (t) => {
  const from = (file: string) => read(MAP).replace('handlers/listPets.ts', file);
  const plain = 'export default async function listPets() { return { status: 200, body: JSON.parse("1") }; }';
  const maps = diagnose({
    [MAP]: read(MAP),
    'src/generated/other.ts': from('handlers/getPet.ts'),
    'src/generated/missing.ts': from('handlers/findPets.ts'),
    'src/generated/plain.ts': from('handlers/plain.ts'),
    'src/generated/less.ts': read(MAP).replace('listPets: listPetsHandler,', ''),
    'handlers/plain.ts': plain,
  });
  t.equal(maps[MAP], '');
  t.match(maps['src/generated/other.ts'], 'Type \'"getPet"\' is not assignable to type \'"listPets"\'');
  t.match(maps['src/generated/missing.ts'], "Cannot find module '../../handlers/findPets.ts'");
  t.match(maps['src/generated/plain.ts'], "Property 'operation' is missing in type '() => Promise<");
  t.match(maps['src/generated/less.ts'], "Property 'listPets' is missing");
});

t.test('a new field of Error does not compile until every failure has it', async (t) => {
  const types = read(TYPES).replace(/( Error: \{)/, '$1 hint: string;');
  const errors = read(ERRORS);
  const without = diagnose({ [TYPES]: types, [ERRORS]: errors });
  t.match(without[ERRORS], "Property 'hint' is missing");
  const withHint = errors.replace('return { code, message,', "return { hint: '', code, message,");
  t.not(withHint, errors);
  t.strictSame(diagnose({ [TYPES]: types, [ERRORS]: withHint }), { [TYPES]: '', [ERRORS]: '' });
});
