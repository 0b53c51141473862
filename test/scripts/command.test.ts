import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';

/** Writes a command that says how it was called, and notes the build. */
const BUILD = `
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
console.log('building');
process.chdir(new URL('..', import.meta.url).pathname);
mkdirSync('dist/src/operate/cli', { recursive: true });
writeFileSync('dist/src/operate/cli/greet.js', 'console.log("hello", ...process.argv.slice(2))');
writeFileSync('dist/contract.json', '{}');
appendFileSync('builds', 'x');
`;

function prepareProject(t: Test): string {
  const folder = t.testdir({
    'package.json': '{"type":"module"}',
    scripts: { 'build.js': BUILD },
    node_modules: { typescript: {} },
    src: { room: { 'a.ts': '', 'b.ts': '' } },
    handlers: { 'getPet.ts': '' },
    openapi: { 'petstore.yaml': '' },
    builds: '',
  });
  cpSync(fileURLToPath(new URL('../../scripts/command.js', import.meta.url)), `${folder}/scripts/command.js`);
  return folder;
}

t.test('a command is built first only where something has changed since the last build', (t) => {
  const folder = prepareProject(t);
  const run = () =>
    execFileSync(process.execPath, [`${folder}/scripts/command.js`, 'greet', 'Ada', '-'], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
  const builds = () => readFileSync(`${folder}/builds`, 'utf8').length;
  const later = (name: string) => utimesSync(`${folder}/${name}`, new Date(), new Date(Date.now() + 60_000));
  const earlier = (name: string) => utimesSync(`${folder}/${name}`, new Date(), new Date(Date.now() - 60_000));
  for (const count of [1, 1]) {
    t.equal(run(), 'hello Ada -\n');
    t.equal(builds(), count);
  }
  let count = 1;
  for (const name of ['src/room/a.ts', 'handlers/getPet.ts', 'openapi/petstore.yaml', 'package.json', 'src/room']) {
    later(name);
    run();
    t.equal(builds(), ++count, name);
    earlier(name);
  }
  rmSync(`${folder}/node_modules/typescript`, { recursive: true });
  later('src/room/a.ts');
  t.equal(run(), 'hello Ada -\n');
  t.equal(builds(), count);
  t.end();
});

t.test('a build that fails ends the command', (t) => {
  const folder = prepareProject(t);
  writeFileSync(`${folder}/scripts/build.js`, 'process.exit(3)');
  t.equal(spawnSync(process.execPath, [`${folder}/scripts/command.js`, 'greet']).status, 1);
  t.end();
});
