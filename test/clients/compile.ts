/** TypeScript of a consumer, compiled as strictly as theirs may be. */
import ts from 'typescript';

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  rewriteRelativeImportExtensions: true,
  strict: true,
  skipLibCheck: true,
  types: ['node'],
};

/** Reads the compiler's own libraries once for all programs. */
const host = ts.createCompilerHost(OPTIONS);
const { getSourceFile } = host;
const libraries = new Map<string, ts.SourceFile | undefined>();
host.getSourceFile = (file, ...rest) => {
  if (!/\/typescript\/lib\//.test(file)) return getSourceFile(file, ...rest);
  if (!libraries.has(file)) libraries.set(file, getSourceFile(file, ...rest));
  return libraries.get(file);
};

/** What the compiler says of a program whose main file is this; it leaves JavaScript beside each file. */
export function compile(main: string): string[] {
  const program = ts.createProgram([main], OPTIONS, host);
  const problems = [...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics];
  return problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}
