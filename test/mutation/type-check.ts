/** The compiler, kept warm: whether `src/` and `handlers/` compile with other types of the contract. */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TYPES = `${ROOT}src/generated/contract.ts`;

/** What the compiler says first of the code with these types; nothing where it compiles. */
export type TypeCheck = (types: string) => string | undefined;

export function buildTypeCheck(): TypeCheck {
  const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile);
  // In this order: the first problem is enough, and the files on top of Fastify's types take the compiler long.
  const include = ['handlers', 'src/store', 'src'];
  const { fileNames, options } = ts.parseJsonConfigFileContent({ ...config, include }, ts.sys, ROOT);
  const host = ts.createCompilerHost(options, true);
  const { getSourceFile } = host;
  const files = new Map<string, ts.SourceFile | undefined>();
  let types = '';
  host.getSourceFile = (file, settings) => {
    if (file === TYPES) return ts.createSourceFile(file, types, settings, true);
    if (!files.has(file)) files.set(file, getSourceFile(file, settings));
    return files.get(file);
  };

  let program: ts.Program | undefined;
  return (next) => {
    types = next;
    program = ts.createProgram(fileNames, options, host, program);
    for (const file of fileNames) {
      const [problem] = program.getSemanticDiagnostics(program.getSourceFile(file));
      if (problem) return `${file.slice(ROOT.length)}: ${ts.flattenDiagnosticMessageText(problem.messageText, ' ')}`;
    }
    return undefined;
  };
}
