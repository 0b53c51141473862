/** Type-checks files of the project, some of them with changed texts, and reuses parsed files over many runs. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile);

/** The file that registers the types of the service. No other file imports it. */
const REGISTER = 'src/generated/register.ts';

/**
 * Compiles files after replacing some of their texts, which are given by path from the project's root. Yields only
 * files with problems.
 */
export type Diagnose = (files: string[], texts: Record<string, string>) => Generator<[file: string, said: string]>;

/** Returns the files in these folders that tsconfig.json includes, in this order. */
export function filesIn(include: string[]): string[] {
  const { fileNames } = ts.parseJsonConfigFileContent({ ...config, include }, ts.sys, ROOT);
  return fileNames.map((file) => file.slice(ROOT.length));
}

/** Parsed files, shared by all runs of a process. */
const known = new Map<string, ts.SourceFile | undefined>();

export function buildDiagnose(settings: ts.CompilerOptions = {}): Diagnose {
  const options = { ...ts.parseJsonConfigFileContent(config, ts.sys, ROOT).options, ...settings };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, directoryExists } = host;
  let texts: Record<string, string> = {};
  let last: ts.Program | undefined;
  host.fileExists = (file) => file.slice(ROOT.length) in texts || fileExists(file);
  host.directoryExists = (folder) =>
    Object.keys(texts).some((file) => file.startsWith(`${folder.slice(ROOT.length)}/`)) ||
    directoryExists?.(folder) === true;
  host.getSourceFile = (file, language) => {
    const text = texts[file.slice(ROOT.length)];
    if (text !== undefined) return ts.createSourceFile(file, text, language);
    if (!known.has(file)) known.set(file, getSourceFile(file, language));
    return known.get(file);
  };

  return function* diagnose(files, inPlace) {
    texts = inPlace;
    const names = [...files, REGISTER].map((file) => ROOT + file);
    const program = ts.createProgram(names, options, host, last);
    last = program;
    for (const file of files) {
      const source = program.getSourceFile(ROOT + file);
      const problems = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
      const said = problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
      if (said.length > 0) yield [file, said.join(' ')];
    }
  };
}

/**
 * Replaces these files of the project and compiles them in one run. Returns the problems of each file, or an empty text
 * for a file without problems.
 */
export function diagnoseAll(compiler: Diagnose, files: string[], texts: Record<string, string>): string[] {
  const found = new Map(compiler(files, texts));
  return files.map((file) => found.get(file) ?? '');
}

export const TYPES = 'src/generated/contract.ts';
export const read = (file: string) => readFileSync(ROOT + file, 'utf8');

let ofHandlers: Diagnose | undefined;

/** Returns the problems of each of these files. Unused names are not reported. */
export function diagnose(sources: Record<string, string>): Record<string, string> {
  ofHandlers ??= buildDiagnose({ noUnusedLocals: false, noUnusedParameters: false });
  const files = Object.keys(sources);
  const found = diagnoseAll(ofHandlers, files, sources);
  return Object.fromEntries(files.map((file, index) => [file, found[index] as string]));
}

/** Compiles a handler for each of these answers in one run. Returns the problems of each handler. */
export function diagnoseAnswers(answers: [operation: string, answer: string][], types = read(TYPES)): string[] {
  const handlers = answers.map(([operation, answer], index) => [
    `handlers/answer${index}.ts`,
    `
import { answer, handle, refuse } from 'contract-first';
import { JsonText } from '../src/contract-first/json/json-text.ts';
const pet = { id: 1n, name: 'Rex', categoryId: 7n };
const redPet = { ...pet, colour: 'red' };
const error = { code: 'pet_not_found', message: 'No.', status: 404 } as const;
const location = { Location: '/', 'X-Foo': '1' };
const anything = JSON.parse('1');
export default handle('${operation}', async (call) => {
  ${/^(return|if|const)\b/.test(answer) ? answer : `return ${answer};`}
});
export { anything, answer, error, JsonText, location, redPet, refuse };
`,
  ]);
  return Object.values(diagnose({ ...Object.fromEntries(handlers), [TYPES]: types })).slice(0, answers.length);
}
