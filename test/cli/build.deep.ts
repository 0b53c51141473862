import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TOOLS = [
  ...['build.js', 'program.js', 'finish.js', 'project.js'],
  ...['typescript/register.js', 'typescript/erase-types.js'],
];
const CLI = 'node_modules/contract-first/dist/cli';
const TYPESCRIPT = fileURLToPath(import.meta.resolve('typescript'));

const PACKAGE = '{ "type": "module" }';

/**
 * A script in place of the compiler and the generator. It counts its calls in the file `checks`, and prints the file
 * `faults`.
 */
const CHECK = `
const { appendFileSync, readFileSync } = require('node:fs');
appendFileSync('checks', 'x');
process.stdout.write(readFileSync('faults'));
process.exitCode = Math.min(readFileSync('faults').length, 1);
`;
const SOURCES = {
  'src/main.ts': "import { word } from './room/door.ts';\nconsole.log(word, import.meta.url.slice(-7));\n",
  'src/room/door.ts': "export * from './word.ts';\nexport const text: string = `import './word.ts'`;",
  'src/room/word.ts': "export const word: string = 'one';\n",
  'src/room/table.sql': 'SELECT 1',
  'src/README.md': '',
  'src/generated/service.ts':
    "export const service = { contract: new URL('../../openapi/petstore.yaml', import.meta.url) };\n",
  'handlers/getPet.ts': '',
};
/** The installed package, with scripts in place of its tools. */
const ENGINE = {
  'package.json': '{ "name": "contract-first", "type": "module", "exports": "./dist/engine/index.js" }',
  'dist/engine/index.js': '',
  'dist/contract/finish.js': "export const finishFile = () => ({ file: {}, yaml: '' });",
  'dist/contract/page/page.js': "export const makePage = () => '';",
  'dist/cli/sandbox/first-request.js': 'export const findExampleRequest = () => undefined;',
  'dist/engine/contract/finished.js': 'export const readFinished = () => ({});',
  'dist/service-contract.js': `export const toFinishedFile = (contract) => new URL('../contract.json', contract);
export const toPageFile = (contract) => new URL('../docs.html.br', contract);`,
  'dist/cli/main.js':
    "import { createRequire } from 'node:module'; createRequire(import.meta.url)('../../../../check.cjs');",
};
/** Some other files on which a build depends. */
const OTHERS = ['openapi/petstore.yaml', 'package.json', 'node_modules/.package-lock.json'];

/** Makes a small project whose compiler and generator are replaced by `CHECK`. */
function prepareProject(t: Test) {
  const folder = t.testdir({
    ...{ faults: '', checks: '', 'check.cjs': CHECK, 'tsconfig.json': '' },
    ...{ src: { room: {}, generated: {}, engine: { contract: {} } }, handlers: {}, openapi: {} },
    scripts: {
      typescript: {},
      'generate.ts': `import { createRequire } from 'node:module'; createRequire(import.meta.url)('../check.cjs');`,
    },
    node_modules: {
      'contract-first': {
        dist: { engine: { contract: {} }, contract: { page: {} }, cli: { sandbox: {}, typescript: {} } },
      },
      typescript: {
        'package.json': '{"main":"lib/index.js"}',
        lib: {},
        bin: { tsc: "require('../../../check.cjs');" },
      },
    },
  });
  const write = (file: string, text: string) => writeFileSync(`${folder}/${file}`, text);
  const read = (file: string) => readFileSync(`${folder}/${file}`, 'utf8');
  for (const [file, text] of Object.entries(SOURCES)) write(file, text);
  for (const file of OTHERS) write(file, file.endsWith('.json') ? PACKAGE : '');
  for (const [file, text] of Object.entries(ENGINE)) write(`node_modules/contract-first/${file}`, text);
  for (const name of TOOLS) cpSync(`${ROOT}/src/contract-first/cli/${name}`, `${folder}/${CLI}/${name}`);
  symlinkSync(`${ROOT}/node_modules/ts-blank-space`, `${folder}/node_modules/ts-blank-space`);
  write('node_modules/typescript/lib/index.js', `module.exports = require('${TYPESCRIPT}');`);
  const run = (...args: string[]) => spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  return {
    folder,
    write,
    read,
    build: () => run(`${CLI}/build.js`),
    start: () => run('dist/src/main.js').stdout,
    run,
  };
}

t.test("`build` runs again if the content of a file changed, even if the file's time did not", (t) => {
  const { folder, write, read, build, start } = prepareProject(t);
  const checks = () => read('checks').length;
  t.equal(build().status, 0);
  t.equal(checks(), 2);
  t.equal(start(), 'one main.js\n');
  t.match(
    read('dist/src/room/door.js'),
    "`import './word.ts'`",
    'text in a string that looks like an import stays unchanged',
  );
  t.equal(read('dist/src/room/table.sql'), 'SELECT 1');
  t.strictSame(
    readdirSync(folder).filter((name) => name.startsWith('dist')),
    ['dist'],
  );

  utimesSync(`${folder}/src/main.ts`, new Date(), new Date(Date.now() + 60_000));
  const builtAt = statSync(`${folder}/dist`).ctimeMs;
  t.equal(build().status, 0);
  t.equal(checks(), 2);
  t.equal(statSync(`${folder}/dist`).ctimeMs, builtAt);

  for (const [index, file] of [...OTHERS, 'src/room/table.sql', 'src/room/word.ts'].entries()) {
    const { mtime } = statSync(`${folder}/${file}`);
    write(file, `${read(file).replace('one', 'two')} `);
    utimesSync(`${folder}/${file}`, mtime, mtime);
    t.equal(build().status, 0);
    t.equal(checks(), 4 + 2 * index, file);
  }
  t.equal(start(), 'two main.js\n');
  t.equal(read('dist/src/room/table.sql'), 'SELECT 1 ');
  write('src/room/word.ts', SOURCES['src/room/word.ts']);
  rmSync(`${folder}/src/room/table.sql`);
  t.equal(build().status, 0);
  t.equal(start(), 'one main.js\n', 'the build that has its earlier content again is built again');
  t.notOk(existsSync(`${folder}/dist/src/room/table.sql`));
  t.end();
});

t.test('a `build` that fails prints the reason and keeps the last built program; the next `build` tries again', (t) => {
  const { write, build, start } = prepareProject(t);
  build();
  write('src/room/word.ts', "export const word: number = 'two';");
  write('faults', 'word.ts: not a number');
  for (const _ of 'ab') {
    const { status, stdout, stderr } = build();
    const said = 'Checking the contract, the handlers and the types …\nword.ts: not a number';
    t.strictSame({ status, stdout, stderr }, { status: 1, stdout: '', stderr: said });
    t.equal(start(), 'one main.js\n');
  }
  t.end();
});

t.test('the first `build` prints that it takes ten seconds; a `build` without any change prints nothing', (t) => {
  const { write, build } = prepareProject(t);
  const steps = 'Checking the contract, the handlers and the types …\nCompiling to dist/ …\n';
  t.equal(build().stderr, `The first build takes some ten seconds …\n${steps}`);
  t.equal(build().stderr, '');
  write('src/room/table.sql', 'SELECT 2');
  t.equal(build().stderr, steps);
  t.end();
});
