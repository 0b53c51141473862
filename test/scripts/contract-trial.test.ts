/** `npm run contract:use` says that a contract is served when a server of it has started. The steps are made up here. */
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { judge } from '../../scripts/contract-use/judgement.ts';
import { type Step, tryOut } from '../../scripts/contract-use/trial.ts';
import { use } from '../../scripts/contract-use.ts';
import { buildDomain } from '../../scripts/domain.ts';
import { fileOf } from '../other-contracts.ts';

const file = fileOf('api-with-examples');

const program = (text: string, others: Partial<Step> = {}): Step => ({
  name: 'npm start',
  args: ['-e', text],
  ...others,
});

/** The contract in place has a schema Pet. */
function project(t: Test, others = {}): URL {
  const folder = t.testdir({
    handlers: { 'getPet.ts': 'ours' },
    openapi: { 'petstore.yaml': 'components:\n  schemas:\n    Pet:\n' },
    src: {
      pets: { 'domain.ts': "export const pets = { schema: 'Pet' };" },
      books: { 'domain.ts': "export const books = { schema: 'Book' };" },
      generated: {},
    },
    node_modules: { 'a-package': {} },
    ...others,
  });
  return pathToFileURL(`${folder}/`);
}

t.test('it is tried in a copy, with handlers of its own, and how long that took is told', async (t) => {
  const root = project(t);
  const inCopy = program(`const { readdirSync, readFileSync } = require('node:fs');
    if (readdirSync('handlers').join() !== 'getVersionDetailsv2.ts,listVersionsv2.ts') throw 1;
    if (readdirSync('node_modules').join() !== 'a-package') throw 2;
    if (!readFileSync('openapi/petstore.yaml', 'utf8').includes('listVersionsv2')) throw 3;`);
  const listens = program("console.log('it listens'); setInterval(() => {}, 1000);", { isReady: /it listens/ });
  const { text, code } = await use([file], root, [inCopy, listens]);
  t.match(
    text,
    /^All of it is served: 2 operations.\nIn a copy with new handlers, it was generated, compiled and started, in \d+ s.$/m,
  );
  t.equal(code, 0);
  t.strictSame(readdirSync(new URL('handlers', root)), ['getPet.ts'], 'and the project is as it was');
});

t.test('where a step fails, the contract is refused, with what the step has said but stacks and notes', async (t) => {
  const fails = program('console.error("note: a\\n\\nit does not fit\\n    at file.ts:1:1"); process.exit(1)');
  t.strictSame(await use([file], project(t), [fails]), {
    text: 'the contract    refused: npm start: it does not fit\n\nWhat a contract may use: openapi/features.md',
    code: 1,
  });
  const ends = program('', { isReady: /it listens/ });
  t.match(await use([file], project(t), [ends]), { text: /npm start: it has ended, and said nothing/, code: 1 });
});

t.test('a step that does not end is ended, and the contract refused', async (t) => {
  const steps = [program('setInterval(() => {}, 1000)')];
  t.match(await tryOut(file, await judge(file), project(t), { steps, timeLimit: 100 }), {
    faults: ['npm start: it has not ended within 0.1 s'],
  });
});

t.test('with a step, the processes that it has begun are ended', async (t) => {
  const server = createServer((socket) => socket.on('error', () => {}).resume()).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const inner = `require('node:net').connect(${port}, '127.0.0.1', () => console.log('it listens'))`;
  const outer = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(inner)}], { stdio: 'inherit' });`;
  const steps = [program(`${outer} setInterval(() => {}, 1000)`, { isReady: /it listens/ })];
  const [[socket], trial] = await Promise.all([
    once(server, 'connection') as Promise<[Socket]>,
    tryOut(file, await judge(file), project(t), { steps }),
  ]);
  t.strictSame(trial.faults, []);
  if (!socket.closed) await once(socket, 'close');
});

t.test('a step that fails and leaves a process behind is refused with what it has said, at once', async (t) => {
  const inner = "spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' })";
  const steps = [
    program(`require('node:child_process').${inner}; console.log('it broke'); process.exitCode = 1; process.exit()`),
  ];
  t.match(await tryOut(file, await judge(file), project(t), { steps }), { faults: ['npm start: it broke'] });
});

t.test('a trial that is interrupted ends its step', async (t) => {
  const steps = [program("process.kill(process.ppid, 'SIGHUP'); setInterval(() => {}, 1000)")];
  t.match(await tryOut(file, await judge(file), project(t), { steps }), {
    faults: ['npm start: it was interrupted'],
  });
});

t.test('handlers that stay are tried, and one that does not fit is told, and tried without', async (t) => {
  const root = project(t, { handlers: { 'listVersionsv2.ts': 'ours', 'getVersionDetailsv2.ts': 'own' } });
  const compiler = program(`const { existsSync, readFileSync } = require('node:fs');
    const isOurs = (name) => ['ours', 'own'].includes(readFileSync('handlers/' + name + '.ts', 'utf8'));
    if (!isOurs('getVersionDetailsv2')) throw 1;
    for (let line = 0; line < 9; line++) console.log('a note of the compiler');
    if (existsSync('src/pets')) console.log('src/pets/domain.ts(1,1): error TS2353');
    else if (isOurs('listVersionsv2')) console.log('handlers/listVersionsv2.ts(1,1): error TS2353');
    else process.exit(0);
    process.exit(1);`);
  const { text, code } = await use([file, '--write'], root, [compiler]);
  t.match(text, 'In a copy with the handlers that fit it, it was generated, compiled and started');
  t.match(text, 'src/pets/domain.ts does not fit it: the compiler says where.');
  t.match(text, 'handlers/listVersionsv2.ts does not fit it: the compiler says where.');
  t.notMatch(text, 'handlers/getVersionDetailsv2.ts');
  t.equal(code, 0);
  t.equal(readFileSync(new URL('handlers/listVersionsv2.ts', root), 'utf8'), 'ours');
});

/** Says of those of both domains that are there that they do not compile, and fails where there are more than this. */
const compiler = (most: number) =>
  program(`const there = ['books', 'pets'].filter((name) => require('node:fs').existsSync('src/' + name));
    for (const name of there) console.log('src/' + name + '/domain.ts(1,1): error TS2353');
    process.exit(there.length > ${most} ? 1 : 0);`);

t.test(
  'a domain of the contract before that does not compile goes with its handlers, where they are replaced',
  async (t) => {
    const root = project(t);
    const { text } = await use([file, '--write', '--replace-handlers'], root, [compiler(1)]);
    t.match(text, 'src/pets/ is removed: it kept what the contract before described.');
    t.notOk(existsSync(new URL('src/pets', root)));
    const made = (name: string) => readFileSync(new URL(`src/generated/${name}.ts`, root), 'utf8');
    t.match(made('domain'), 'export const domain = { books };');
    t.match(made('transactions'), 'export const transactions = {};');
    const { text: all, code } = await use([file], project(t), [compiler(0)]);
    t.match([all, code], [/refused: npm start: src\/books\/domain.ts\(1,1\): error TS2353/, 1], 'a new one stays');
    t.match(buildDomain(new URL('src/generated/', root)), 'export const domain = {};', 'without any, nothing is kept');
  },
);

t.test('where handlers stay, so does a domain that does not fit, and that is told', async (t) => {
  const root = project(t, { handlers: {} });
  const { text } = await use([file, '--write'], root, [compiler(1)]);
  t.match(text, 'src/pets/domain.ts does not fit it: the compiler says where.');
  t.ok(existsSync(new URL('src/pets/domain.ts', root)));
});
