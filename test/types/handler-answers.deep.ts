import t from 'tap';
import { diagnose, diagnoseAnswers, read, TYPES } from '../compiler.ts';

const MAP = 'src/generated/handlers.ts';
const SERVICE = 'src/generated/service.ts';

t.test('a handler compiles if its answers have a declared status, body and headers', async (t) => {
  const right: [operation: string, answer: string][] = [
    ['getPet', '{ status: 200, body: { ...pet, id: call.params.petId } }'],
    ['getPet', '{ status: 404, body: error }'],
    ['getPet', "refuse('pet_not_found', 'No.')"],
    ['getPet', "call.params.petId === 1n ? { status: 200, body: pet } : refuse('pet_not_found', 'No.')"],
    ['getPet', "{ status: 200, body: JsonText.of<typeof pet>('') }"],
    // By `default`.
    ['listPets', "refuse('pet_not_found', 'No.')"],
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

t.test("a handler's answer that the contract does not declare is a compile error with the reason", async (t) => {
  const OTHER = 'has another type than in the contract';
  const ABSENT = 'is not in the contract';
  const refused: [operation: string, answer: string, why: string][] = [
    ['getPet', '{ status: 202, body: pet }', 'the contract declares no status 202'],
    ['getPet', "{ status: 200, body: { ...pet, status: 'lost' } }", `200.body.status ${OTHER}`],
    ['getPet', '{ status: 200, body: { ...pet, id: 1 } }', `200.body.id ${OTHER}`],
    ['getPet', "{ status: 200, body: { id: 1n, name: 'Rex' } }", '200.body.categoryId is missing'],
    ['createPet', '{ status: 201, body: pet }', '201.headers.Location is missing'],
    ['createPet', '{ status: 201, body: pet, headers: {} }', '201.headers.Location is missing'],
    ['getPet', '{ status: 200, body: call.body }', `200.body ${OTHER}`],
    ['getPet', '{ status: 200, body: { ...pet, colour: "red" } }', `200.body.colour ${ABSENT}`],
    ['getPet', '{ status: 200, body: redPet }', `200.body.colour ${ABSENT}`],
    ['listPets', '{ status: 200, body: [redPet] }', `200.body[].colour ${ABSENT}`],
    ['getPet', '{ status: 404, body: { ...error, hint: "None." } }', `404.body.hint ${ABSENT}`],
    ['getPet', "{ status: 200, body: pet, headers: { 'X-Foo': '1' } }", `200.headers.X-Foo ${ABSENT}`],
    ['getPet', "{ status: 404, body: error, headers: { 'X-Foo': '1' } }", `404.headers.X-Foo ${ABSENT}`],
    ['listPets', "{ ...refuse('invalid_request', ''), headers: { 'X-Foo': '1' } }", `400.headers.X-Foo ${ABSENT}`],
    ['getPet', "{ status: 200, body: pet, headers: 'X-Foo: 1' }", `200.headers ${OTHER}`],
    ['getPet', "{ status: 404, body: error, headers: 'X-Foo: 1' }", `404.headers ${OTHER}`],
    ['listPets', "{ ...refuse('invalid_request', ''), headers: 'X' }", `400.headers ${OTHER}`],
    ['createPet', '{ status: 201, body: pet, headers: location }', `201.headers.X-Foo ${ABSENT}`],
    ['getPet', "{ status: 200, body: pet, headers: { Deprecation: '@1' } }", `200.headers.Deprecation ${ABSENT}`],
    ['getPet', '{ status: 404, body: { ...error, status: 400 } }', `404.body.status ${OTHER}`],
    ['listPets', '{ status: 200, body: JsonText.of<typeof pet>("") }', `200.body ${OTHER}`],
    ['getPet', '{ status: 200, body: anything }', '200.body is any, which may be anything'],
    ['getPet', 'anything', 'an answer is any, which may be anything'],
    ['getPet', '{ status: 200, body: pet, extra: 1 }', `200.extra ${ABSENT}`],
    ['getPet', '{ status: 200 }', '200.body is missing'],
    ['getPet', '{ status: 200, body: { ...pet, status: undefined } }', `200.body.status ${OTHER}`],
    ['getPet', '{ status: call.params.petId ? 200 : 299, body: pet }', 'the contract declares no status 299'],
    ['getPet', '{ status: 200, body: { ...pet, 404: 1 } }', `200.body.404 ${ABSENT}`],
    ['listPets', '{ status: 200, body: [pet, redPet] }', `200.body[].colour ${ABSENT}`],
  ];
  const wrong: [operation: string, answer: string, message: string | RegExp][] = [
    ...refused.map(
      ([operation, answer, why]) =>
        [operation, answer, `UnfitAnswer<"${operation}: ${why}">`] as [string, string, string],
    ),
    // The message is one line that contains the codes.
    ['getPet', "refuse('no_such_code', 'No.')", /^.*"no_such_code"' is not assignable .*"pet_not_found".*$/],
    ['getPet', "{ status: 200, body: call.urlOf('getPet', {}) }", "Property 'petId' is missing"],
    ['listPets', '{ status: 200, body: [{ ...pet, name: call.query.nowhere }] }', "Property 'nowhere' does not exist"],
    ['getPet', '{ status: 200, body: JsonText.of(\'{"foo":1}\') }', 'getPet: 200.body.categoryId is missing'],
    ['getPet', '{ status: 200, body: new JsonText(\'{"foo":1}\') }', /Constructor .* is private/],
    ['getPet', '"anything"', "Type 'string' is not assignable"],
    ['getPet', 'const answer = { status: 299 }; return answer;', 'the contract declares no status'],
    [
      'getPet',
      '{ status: call.params.petId ? 200 : 404, body: pet }',
      /"getPet: 404.body.(id|name|categoryId) is not in the contract"/,
    ],
    ['feedPet', '{ status: 200, body: pet }', '\'"feedPet"\' is not assignable'],
  ];
  const messages = diagnoseAnswers(wrong.map(([operation, answer]) => [operation, answer]));
  for (const [index, [operation, answer, message]] of wrong.entries()) {
    t.match(messages[index], message, `${operation}: ${answer}`);
  }
});

t.test('a file of handlers/ that does not call `handle` for the operation in its name does not compile', async (t) => {
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

t.test("if the contract's Error gets a field, the service does not compile until src/errors.ts sets it", async (t) => {
  const types = read(TYPES).replace(/( Error: \{)/, '$1 hint: string;');
  const service = read(SERVICE);
  const without = diagnose({ [TYPES]: types, [SERVICE]: service });
  t.match(without[SERVICE], "Property 'hint' is missing");
  const withHint = service.replace(/import \{ toErrorBody \} .*/, "import { toErrorBody } from '../errors.ts';");
  const errors = `import { type OwnError, toErrorBody as own } from 'contract-first';
export const toErrorBody = (error: OwnError) => ({ ...own(error), hint: '' });`;
  t.strictSame(diagnose({ [TYPES]: types, 'src/errors.ts': errors, [SERVICE]: withHint })[SERVICE], '');
});

t.test('if src/errors.ts returns an error body that no reply allows, it does not compile', async (t) => {
  const bodies: [body: string, message: RegExp | ''][] = [
    ['{ code, message, status }', ''],
    ['{ code, message, status, problems: [] }', ''],
    ['{ code, message }', /'status' is missing/],
    ['{ code, message, status: String(status) }', /'string' is not assignable to type 'number'/],
    ['{ code, message, status, detail: message }', /'detail' does not exist/],
    ['{ code, message, status, problems: [requestId, operation, reply] }', /'string' is not assignable/],
  ];
  const sources = bodies.map(([body], index) => [
    `src/errors${index}.ts`,
    `import type { OwnError, OwnErrorBody } from './contract-first/engine/errors/error-body.ts';
export function toErrorBody({ code, message, status, requestId, operation, reply }: OwnError): OwnErrorBody {
  return ${body};
}`,
  ]);
  const said = Object.values(diagnose(Object.fromEntries(sources)));
  for (const [index, [body, message]] of bodies.entries()) {
    if (message === '') t.equal(said[index], '', body);
    else t.match(said[index], message, body);
  }
});
