/** Checks that `new` and the sandbox run nothing of a contract. */
import { execFileSync } from 'node:child_process';
import ts from 'typescript';
import { openSandbox } from '../../../src/contract-first/cli/sandbox/sandbox.ts';
import { writeCollections } from '../../../src/contract-first/cli/scaffold/collection-files.ts';
import { writeFirstRequest } from '../../../src/contract-first/cli/scaffold/first-create.ts';
import { writeTest } from '../../../src/contract-first/cli/scaffold/written-test.ts';
import type { ReadContract } from '../../../src/contract-first/engine/contract/contract.ts';
import type { Json } from '../../any-json.ts';

export function demand(holds: boolean, problem: string): void {
  if (!holds) throw new Error(problem);
}

/** Returns the words of each command as a shell reads them. Nothing else is run. */
export function wordsOf(commands: string[]): string[][] {
  const script = `curl() { printf '%s\\0' "$@"; printf '\\n\\0'; }\nran() { printf 'ran\\0'; }\n${commands.join('\n')}`;
  const said = execFileSync('/bin/sh', ['-e', '-c', script], { encoding: 'utf8', env: { PATH: '' } });
  return said.split('\n\0').map((words) => words.split('\0').slice(0, -1));
}

/** Checks the files that `new --assume` writes. Returns the number of collections. */
export function checkWritten(contract: ReadContract): number {
  const { collections } = writeCollections(contract, { isAssuming: true });
  for (const one of collections) {
    for (const [file, text] of one.files) (file.endsWith('.sql') ? checkSql : checkModule)(text);
    for (const [, text] of one.handlers) checkModule(text);
    checkModule(String(writeTest(contract, one, collections) ?? 'export default 0;'), 'ExpressionStatement');
  }
  const [, command] = writeFirstRequest(contract, collections).split('\n\n  curl ');
  if (command !== undefined) checkCommand(`curl ${command}`, 'http://127.0.0.1:3000/');
  return collections.length;
}

/** Checks that a module has only imports, one other statement, and no call of a function of the hostile texts. */
function checkModule(text: string, last = 'ExportAssignment'): void {
  const file: Json = ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest);
  demand(file.parseDiagnostics.length === 0, text);
  const kinds: string[] = file.statements.map(({ kind }: Json) => ts.SyntaxKind[kind]);
  const isDomain = kinds.at(-1) === 'VariableStatement' || kinds.at(-1) === 'FirstStatement';
  demand((isDomain || kinds.at(-1) === last) && kinds.slice(0, -1).every((kind) => kind === 'ImportDeclaration'), text);
  const visit = (node: ts.Node): void => {
    demand(!(ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'ran'), text);
    ts.forEachChild(node, visit);
  };
  visit(file);
}

/** Checks that SQL consists of one table and its indexes, with plain names. */
const checkSql = (text: string): void =>
  demand(/^CREATE TABLE [a-z_0-9]+ \([^']*\)( STRICT)?;\n(CREATE INDEX [\w ,(\n)]+;\n)*$/.test(text), text);

interface Sent {
  url: string;
  method: string;
  headers: [string, string][];
  body: string | undefined;
}

/** Returns the request of a curl command, which calls this origin and runs nothing else. */
function checkCommand(command: string, origin: string): Sent {
  const [words = [], ...others] = wordsOf([command]);
  demand(others.length === 1 && others[0]?.length === 0, `more than one command: ${command}`);
  const url = words.pop() as string;
  demand(url.startsWith(origin) && /^[\w.~:@!$&'()*+,;=%/?#[\]-]*$/.test(url), `a command calls ${url}`);
  const headers: [string, string][] = [];
  let [method, body]: [string, string | undefined] = ['GET', undefined];
  for (let index = 0; index < words.length; index++) {
    const word = words[index];
    if (word === '-i') continue;
    const value = words[++index] as string;
    if (word === '-X') method = value;
    else if (word === '-H') headers.push(/^([^:]*): (.*)$/s.exec(value)?.slice(1) as [string, string]);
    else if (word === '-d') [method, body] = [method === 'GET' ? 'POST' : method, value];
    else demand(false, `a command has the option ${word}`);
  }
  return { url, method, headers, body };
}

const TOKEN = /^[!#$%&'*+.^`|~\w-]+$/;

/** Checks what the sandbox prints, its page and its replies. Returns whether it printed a request. */
export async function checkSandbox(file: string, checkPage: (page: string) => void): Promise<boolean> {
  const lines: string[] = [];
  const { origin, close } = await openSandbox(file, { port: 0, hasKeys: false }, (text) => lines.push(text));
  try {
    const said = lines.join('\n');
    demand(
      /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]*$/u.test(said.replaceAll('\n', '')),
      `it prints ${JSON.stringify(said)}`,
    );
    checkPage(await (await fetch(`${origin}/docs`)).text());
    const [, command] = /Try it:\n\n {2}(curl[\s\S]*?)\n\n/.exec(`${said}\n\n`) ?? [];
    if (command === undefined) return false;
    const { url, headers, ...sent } = checkCommand(command, origin);
    // No client can send a header with another name.
    if (!headers.every(([name]) => TOKEN.test(name))) return true;
    const toBytes = (text: string) => Buffer.from(text).toString('latin1');
    const reply = await fetch(url, {
      ...sent,
      headers: headers.map(([name, value]) => [name, toBytes(value)]),
    } as Json);
    demand(reply.ok, `${command} is a ${reply.status}: ${await reply.clone().text()}`);
    JSON.parse(await reply.text());
    return true;
  } finally {
    await close();
  }
}
