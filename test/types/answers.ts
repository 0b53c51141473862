/** What the compiler says of handlers and of other files of the project, with other texts. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildDiagnose } from '../compiler.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const TYPES = 'src/generated/contract.ts';

export const read = (file: string) => readFileSync(ROOT + file, 'utf8');

const compiler = buildDiagnose({ noUnusedLocals: false, noUnusedParameters: false });

/** What the compiler reports for each of these files, which replace the project's; empty for one that compiles. */
export function diagnose(sources: Record<string, string>): Record<string, string> {
  const files = Object.keys(sources);
  const none = files.map((file) => [file, '']);
  return { ...Object.fromEntries(none), ...Object.fromEntries(compiler(files, sources)) };
}

/** What the compiler reports for handlers with these answers, each by its number, in one run. */
export function diagnoseAnswers(answers: [operation: string, answer: string][], types = read(TYPES)): string[] {
  const handlers = answers.map(([operation, answer], index) => [
    `handlers/answer${index}.ts`,
    `
import { handle, refuse } from 'contract-first';
import { JsonText } from '../src/contract-first/json/json-text.ts';
const pet = { id: 1n, name: 'Rex', categoryId: 7n };
const redPet = { ...pet, colour: 'red' };
const error = { code: 'pet_not_found', message: 'No.', status: 404 } as const;
const location = { Location: '/', 'X-Foo': '1' };
const anything = JSON.parse('1');
export default handle('${operation}', async (call) => {
  ${/^(return|if|const)\b/.test(answer) ? answer : `return ${answer};`}
});
export { anything, error, JsonText, location, redPet, refuse };
`,
  ]);
  return Object.values(diagnose({ ...Object.fromEntries(handlers), [TYPES]: types })).slice(0, answers.length);
}
