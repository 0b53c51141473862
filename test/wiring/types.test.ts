import { fileURLToPath } from 'node:url';
import t from 'tap';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What the compiler says of handlers with these bodies, each by its number, in one run. */
function diagnose(...handlers: [operation: string, answer: string][]): string[] {
  const sources = new Map(
    handlers.map(([operation, answer], index) => [`${ROOT}handlers/wrong${index}.ts`, toSource(operation, answer)]),
  );
  const config = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile);
  const strict = ts.parseJsonConfigFileContent(config.config, ts.sys, ROOT).options;
  const options = { ...strict, noUnusedLocals: false, noUnusedParameters: false };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (file) => sources.has(file) || fileExists(file);
  host.getSourceFile = (file, language) => {
    const source = sources.get(file);
    return source === undefined ? getSourceFile(file, language) : ts.createSourceFile(file, source, language);
  };
  const program = ts.createProgram([...sources.keys()], options, host);
  return [...sources.keys()].map((file) =>
    program
      .getSemanticDiagnostics(program.getSourceFile(file))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
      .join(' '),
  );
}

const toSource = (operation: string, answer: string) => `
import { refuse } from '../src/http/errors.ts';
import type { Answer, Call } from '../src/wiring/handler.ts';
export default function handle(call: Call<'${operation}'>): Answer<'${operation}'> {
  const pet = { id: 1n, name: 'Rex', categoryId: 7n };
  return ${answer};
}
export { refuse };
`;

t.test('a handler that answers what the contract declares compiles', async (t) => {
  const [found, missing, created, listed] = diagnose(
    ['getPet', '{ status: 200, body: { ...pet, id: call.params.petId } }'],
    ['getPet', "refuse('pet_not_found', 'No.')"],
    [
      'createPet',
      "{ status: 201, body: { id: 1n, ...call.body }, headers: { Location: call.urlOf('getPet', { petId: 1n }) } }",
    ],
    ['listPets', '{ status: 200, body: [pet].slice(0, call.query.limit), headers: { Link: \'<x>; rel="next"\' } }'],
  );
  t.strictSame([found, missing, created, listed], ['', '', '', '']);
});

t.test('a handler that answers anything else does not', async (t) => {
  const wrong: [operation: string, answer: string][] = [
    ['getPet', '{ status: 202, body: pet }'],
    ['listPets', "refuse('pet_not_found', 'No.')"],
    ['getPet', "refuse('no_such_code', 'No.')"],
    ['getPet', "{ status: 200, body: { ...pet, status: 'lost' } }"],
    ['getPet', '{ status: 200, body: { ...pet, id: 1 } }'],
    ['getPet', "{ status: 200, body: { id: 1n, name: 'Rex' } }"],
    ['getPet', "{ status: 200, body: { id: 1n, name: 'Rex', categoryId: 7n, colour: 'red' } }"],
    ['createPet', '{ status: 201, body: pet }'],
    ['createPet', "{ status: 201, body: pet, headers: { Location: '/', Lokation: '/' } }"],
    ['listPets', "{ status: 200, body: [pet], headers: { 'X-Total': '1' } }"],
    ['getPet', "{ status: 200, body: pet, headers: { Location: call.urlOf('getPet', {}) } }"],
    ['getPet', '{ status: 200, body: call.body }'],
    ['listPets', '{ status: 200, body: [{ ...pet, name: call.query.name }] }'],
  ];
  for (const [index, message] of diagnose(...wrong).entries()) {
    t.not(message, '', String(wrong[index]));
  }
});
