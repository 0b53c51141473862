/** The compiler, reused for many runs: what it reports for files of the project, some of them with other texts. */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile);

/** The types of the service, which no file imports. */
const REGISTER = 'src/generated/register.ts';

/** Takes texts by the path of their file from the project's root. Yields only files with problems. */
export type Diagnose = (files: string[], texts: Record<string, string>) => Generator<[file: string, said: string]>;

/** The files in these folders, in this order. */
export function filesIn(include: string[]): string[] {
  const { fileNames } = ts.parseJsonConfigFileContent({ ...config, include }, ts.sys, ROOT);
  return fileNames.map((file) => file.slice(ROOT.length));
}

/** Read once for all runs of a process. */
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
