/**
 * Tests the packed package without its sources: it compiles what the documentation shows, and another service, with a
 * check of all declarations.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { base, pack, ROOT, run } from '../packed.ts';
import { writeTasks } from '../records-page.ts';
import { BLOCKS, buildDocumentedService } from './documented-service.ts';

const packed = pack('tarball');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

/** Makes a folder with the installed packages of this project, in which contract-first is the packed one. */
function makeFolder(name: string): string {
  const folder = join(base, name);
  const installed = join(folder, 'node_modules/contract-first');
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(base, 'package.tgz'), packed.tarball);
  run(base, 'tar', 'xzf', 'package.tgz', '--strip-components=1', '-C', installed);
  for (const one of readdirSync(join(ROOT, 'node_modules')))
    if (one !== 'contract-first' && one !== '.cache')
      symlinkSync(join(ROOT, 'node_modules', one), join(folder, 'node_modules', one));
  return folder;
}

/**
 * Returns what the compiler prints about these files. It is empty if they compile, and all declarations that they use.
 */
function compile(folder: string, include: string[]): string {
  const compilerOptions = { skipLibCheck: false, noUnusedLocals: false, noEmit: true };
  const settings = { extends: 'contract-first/tsconfig.json', compilerOptions, include };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  return spawnSync(process.execPath, [TSC, '-p', folder], { cwd: folder, encoding: 'utf8' }).stdout;
}

t.test('each TypeScript block of the documentation compiles against the package as npm would install it', async (t) => {
  const folder = makeFolder('documented');
  const isOwn = (path: string) => !path.includes('src/contract-first');
  for (const part of ['src', 'handlers'])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true, filter: isOwn });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const { texts } = await buildDocumentedService(t);
  t.ok(BLOCKS.length > 10);
  // The clients belong to the pet store, and are not in the package.
  const own = Object.entries(texts).filter(([file]) => !file.startsWith('openapi/'));
  for (const [file, text] of own) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  t.equal(compile(folder, ['src', 'handlers', ...own.map(([file]) => file)]), '');
});

t.test('the service that guide/records.md describes compiles against the package as npm would install it', (t) => {
  const folder = makeFolder('tasks');
  writeTasks(folder);
  const cli = join(folder, 'node_modules/contract-first/bin/contract-first.js');
  run(folder, process.execPath, cli, 'generate');
  t.equal(compile(folder, ['src', 'handlers']), '');
  t.end();
});

t.test('a Fastify app in TypeScript can register a built service, and sees the types that it adds to Fastify', (t) => {
  const folder = makeFolder('stations');
  cpSync(join(ROOT, 'test/stations'), folder, { recursive: true });
  const cli = join(folder, 'node_modules/contract-first/bin/contract-first.js');
  run(folder, process.execPath, cli, 'generate');
  t.equal(compile(folder, ['src', 'handlers']), '', 'the service compiles');
  run(folder, process.execPath, cli, 'build');
  writeFileSync(
    join(folder, 'app.ts'),
    `import contractFirst, { build, serverOptions } from 'contract-first/fastify';
import { fastify } from 'fastify';
import { service } from './dist/src/generated/service.js';

const app = fastify(serverOptions());
app.addHook('onRequest', async (request) => void request.contractFirst.caller?.id.trim());
await app.register(contractFirst, { service, store: { url: 'sqlite::memory:' }, docs: {}, health: {} });
const whole = await build(service, { database: { kind: 'memory' } });
const methods: string | undefined = whole.contractFirst.methodsAt('/v1/openapi.json');
console.log((await app.inject('/openapi.json')).statusCode, (await whole.inject('/livez')).statusCode, methods);
await whole.close();
await app.close();
`,
  );
  t.equal(compile(folder, ['app.ts']), '', 'the app compiles');
  const register = join(folder, 'node_modules/contract-first/dist/cli/typescript/register.js');
  t.match(run(folder, process.execPath, `--import=${register}`, 'app.ts'), /^200 200 GET, HEAD$/m);
  t.end();
});
