/** The pet store with a contract in several files, from `generate` to a request. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { startProgram } from '../program.ts';
import { copyProject, generate, readCopied } from './project-copy.ts';

const CLI = fileURLToPath(new URL('../../src/contract-first/cli/', import.meta.url));
const WHOLE = readFileSync(new URL('../../openapi/petstore.yaml', import.meta.url), 'utf8');
const KEY = 'key-of-the-tests-0123456789';

/** Returns a schema of the contract as a YAML document. */
function schemaOf(name: string): string {
  const [, text = ''] = new RegExp(`^    ${name}:\n((?:      .*\n|\n)+)`, 'm').exec(WHOLE) ?? [];
  return text.replace(/^ {6}/gm, '').replaceAll('"#/', '"../petstore.yaml#/');
}

/** Makes a copy of the project in which these schemas are in separate files. */
function splitProject(t: Test, ...names: string[]): string {
  const root = names.reduce((text, name) => {
    const withReference = `$1      $ref: schemas/${name}.yaml\n\n`;
    return text.replace(new RegExp(`^(    ${name}:\n)(?:      .*\n|\n)+`, 'm'), withReference);
  }, WHOLE);
  const folder = copyProject(t, root);
  mkdirSync(join(folder, 'openapi/schemas'));
  for (const name of names) writeFileSync(join(folder, `openapi/schemas/${name}.yaml`), schemaOf(name));
  return folder;
}

function run(folder: string, ...args: string[]) {
  const env = { ...process.env, NODE_OPTIONS: '', NODE_V8_COVERAGE: '' };
  return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', env });
}

t.test('a service with a contract in several files is served, and `build` notices a change of any file', async (t) => {
  const folder = splitProject(t, 'Pet', 'NewPet');
  t.match(generate(folder), { status: 0, stderr: '' });
  t.match(readCopied(folder, 'src/generated/contract.ts'), /^ *NewPet: \{$/m);
  const build = () => run(folder, `${CLI}build.js`);
  // Standard error contains only lines of progress.
  t.match(build(), { status: 0, stderr: /^(.* …( \d+ s)?\n)*$/ });

  const env = { API_KEYS: KEY, PORT: '0', DATABASE_URL: 'sqlite::memory:' };
  const program = startProgram(t, 'dist/src/main.js', { root: folder, env });
  const [, origin] = await program.written('stdout', /"origin":"([^"]+)"/);
  const send = (path: string, init = {}) =>
    fetch(origin + path, {
      ...init,
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    });
  const created = await send('/v1/pets', { method: 'POST', body: '{"name":"Rex","categoryId":7}' });
  t.equal(created.status, 201);
  t.equal((await send('/v1/pets', { method: 'POST', body: '{"name":"Rex"}' })).status, 400);
  const served = parse(await (await send('/openapi.yaml')).text());
  t.strictSame(served, await (await send('/openapi.json')).json());
  t.strictSame(served, { ...parse(WHOLE) });
  program.child.kill('SIGTERM');
  await program.exit;

  const file = join(folder, 'openapi/schemas/NewPet.yaml');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('An animal to add', 'Another animal to add'));
  t.match(build(), { status: 1, stderr: /src\/generated\/contract\.ts is stale/ });
  t.end();
});

t.test("if one of a contract's files has a mistake, `generate`, `lint` and `diff` print its position", async (t) => {
  const folder = splitProject(t, 'Pet', 'NewPet');
  const file = join(folder, 'openapi/schemas/NewPet.yaml');
  const tool = (name: string) => run(folder, `--import=${CLI}typescript/register.js`, `${CLI}main.ts`, name);
  const text = readFileSync(file, 'utf8');
  const line = text.split('\n').findIndex((one) => one.startsWith('  categoryId:')) + 1;
  const edit = (from: string, to: string) => writeFileSync(file, text.replace(from, to));

  edit('  categoryId:\n', "  categoryId:\n    x-max-bytes: '7'\n");
  t.match(generate(folder), {
    status: 1,
    stderr: new RegExp(`^openapi/schemas/NewPet\\.yaml:${line + 1}:5: .*x-max-bytes`),
  });

  edit('type: object', 'type: [');
  for (const name of ['generate', 'lint', 'diff']) {
    const { status, stdout, stderr } = tool(name);
    t.equal(status, 1, name);
    t.match(stdout + stderr, /openapi\/schemas\/NewPet\.yaml:\d+:\d+: Flow sequence/, name);
  }
});
