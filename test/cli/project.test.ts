/** The commands work on the project in the current folder. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { NODE_ARGS } from '../program.ts';

const CLI = fileURLToPath(new URL('../../src/contract-first/cli/', import.meta.url));

const runNode = (cwd: string, ...args: string[]) =>
  spawnSync(process.execPath, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '', NODE_V8_COVERAGE: '' },
  });

const run = (cwd: string, ...args: string[]) => runNode(cwd, ...NODE_ARGS, `${CLI}main.ts`, ...args);

/** The first step of each command: finding the contract. */
const FIND = `import { findContractOrExit } from '${CLI}project.js'; console.log(findContractOrExit());`;
const find = (cwd: string) => runNode(cwd, '--input-type=module', '--eval', FIND);

const TOOLS = ['generate', 'build', 'dev', 'test', 'lint', 'diff', 'release'];

t.test('each command in a folder without a package.json prints one sentence and writes nothing', (t) => {
  const folder = t.testdir({});
  for (const tool of TOOLS) {
    const { status, stdout, stderr } = run(folder, tool);
    const reported = `There is no package.json in ${folder}: go to the folder of the service.\n`;
    t.strictSame({ status, stdout, stderr }, { status: 1, stdout: '', stderr: reported }, tool);
  }
  t.strictSame(readdirSync(folder), []);
  t.end();
});

t.test('if openapi/ contains no contract, or several, the commands print one sentence with the fix', (t) => {
  for (const [contents, reported] of [
    [{}, 'There is no contract: put one into openapi/, or name it as "contract" in package.json.'],
    [
      { openapi: { 'README.md': '', released: {} } },
      'There is no contract: put one into openapi/, or name it as "contract" in package.json.',
    ],
    [
      { openapi: { 'b.yaml': '', 'a.json': '' } },
      'openapi/ has a.json and b.yaml: name one as "contract" in package.json.',
    ],
    [
      { 'package.json': '{"contract":"openapi/c.yaml"}' },
      'There is no openapi/c.yaml, which is "contract" in package.json.',
    ],
    ...['"c.yaml"', '"../c.yaml"', '"/tmp/c.yaml"', '"./c.yaml"', '7'].map((contract) => [
      { 'package.json': `{"contract":${contract}}` },
      '"contract" in package.json must be a file in a folder, such as openapi/books.yaml.',
    ]),
  ] as [object, string][]) {
    const { status, stderr } = find(t.testdir({ 'package.json': '{}', ...contents }));
    t.strictSame({ status, stderr }, { status: 1, stderr: `${reported}\n` });
  }
  t.end();
});

t.test('the commands use the contract that package.json names, even if it is not in openapi/', (t) => {
  const contract = 'openapi: 3.1.0\ninfo: { title: Books, version: 1.0.0 }\npaths: { /books: 7 }\n';
  const folder = t.testdir({
    'package.json': '{"name":"books","contract":"api/books.yaml"}',
    api: { 'books.yaml': contract, 'other.yaml': '' },
    src: { generated: {} },
  });
  const { status, stderr } = run(folder, 'generate');
  t.match({ status, stderr }, { status: 1, stderr: /^api\/books\.yaml:\d/ });
  t.equal(find(folder).stdout, 'api/books.yaml\n');
  t.match(run(folder, 'lint').stdout, /^api\/books\.yaml:\n/);
  t.end();
});
