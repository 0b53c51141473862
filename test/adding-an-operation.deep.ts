/** Adds operations to a copy of the project by the steps and commands of the guide. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { HANDLERS, PATHS } from './feature-operations.ts';
import { linkModules } from './program.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const GUIDE = readFileSync(join(ROOT, 'src/contract-first/guide/handlers.md'), 'utf8');
const LEFT_OUT = ['node_modules', 'dist', 'data', '.git', '.tap'];
const NODE = 'node --import=./scripts/typescript/register.js';
const KEY = 'key-of-the-tests-0123456789';
const ENVIRONMENT = { ...process.env, NODE_V8_COVERAGE: '', API_KEYS: KEY, PORT: '0', DATABASE_URL: 'sqlite::memory:' };

/** Matches the server's address in the line that it prints when it listens. */
const ORIGIN = /http:\/\/127\.0\.0\.1:\d+(?=\D)/;

/** The tests whose results depend on the list of operations. */
const TESTS = [
  'architecture.test.ts',
  'contract/read/load-contract.test.ts',
  'engine/http/errors.test.ts',
  'engine/http/catalogue.test.ts',
  'types/handler-answers.deep.ts',
];

interface Ended {
  code: number | null;
  output: string;
}

/**
 * Runs a command in a folder until it ends or prints `until`. The command has its own process group, so that its
 * children can also be ended.
 */
function run(folder: string, command: string, until?: RegExp): { pid: number; ended: Promise<Ended> } {
  const child = spawn(command, { cwd: folder, env: ENVIRONMENT, shell: true, detached: true });
  const ended = new Promise<Ended>((resolve) => {
    let output = '';
    const collect = (chunk: Buffer) => {
      output += chunk;
      if (until?.test(output)) resolve({ code: null, output });
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('close', (code) => resolve({ code, output }));
  });
  return { pid: child.pid as number, ended };
}

function copyProject(t: Test): string {
  const folder = t.testdir({});
  for (const name of readdirSync(ROOT).filter((name) => !LEFT_OUT.includes(name))) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  linkModules(folder);
  return folder;
}

/** Returns the hash of every file in a folder, by its path. */
function readFiles(folder: string): Map<string, string> {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  const names = files.map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
  const kept = names.filter((name) => !name.split('/').some((part) => LEFT_OUT.includes(part)));
  const toHash = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
  return new Map(kept.map((name) => [name, toHash(name)]));
}

/** Returns the guide's first code block in this language. */
function exampleIn(language: string): string {
  const [, indent, text] = new RegExp(`^( *)\`\`\`${language}\n([^]*?)^ *\`\`\`$`, 'm').exec(GUIDE) ?? [];
  return (text as string).replaceAll(new RegExp(`^${indent}`, 'gm'), '');
}

async function callFeatures(t: Test, url: string): Promise<void> {
  const send = async (path: string, method: string, body: string | FormData, headers: Record<string, string> = {}) => {
    const reply = await fetch(url + path, { method, body, headers: { authorization: `Bearer ${KEY}`, ...headers } });
    return [reply.status, reply.headers.get('content-type'), await reply.text()];
  };
  const patch = { 'content-type': 'application/merge-patch+json', 'if-match': '"a1"' };
  t.strictSame(await send('/pet-labels?ids=9007199254740993&ids=2', 'PATCH', '{"label":null}', patch), [
    200,
    'text/csv; charset=utf-8',
    '9007199254740994,none,true,"a1"\n3,none,true,"a1"\n',
  ]);
  const json = { 'content-type': 'application/json' };
  const [status, , text] = await send('/pet-labels?ids=1&ids=1', 'PATCH', '{"label":null}', json);
  t.equal(status, 400);
  t.match(text, /query\.ids must not have the same item twice; body\.label must be of type string/);
  const form = new FormData();
  form.append('petId', '9007199254740993');
  form.append('picture', new Blob(['a picture']), 'a.png');
  t.strictSame(await send('/pet-pictures', 'PUT', form), [
    200,
    'application/octet-stream',
    '9007199254740994:a picture',
  ]);
  const bytes = { 'content-type': 'application/octet-stream' };
  t.equal((await send('/pet-pictures', 'PUT', 'a picture', bytes))[2], 'a picture');
  t.equal((await send('/pet-pictures', 'PUT', 'a'.repeat(65537), bytes))[0], 413);
}

t.test(
  'to add an operation, a team only edits the contract, writes a handler and runs `npm run generate`',
  async (t) => {
    const folder = copyProject(t);
    const before = readFiles(folder);
    const contract = join(folder, 'openapi/petstore.yaml');
    const [paths, components] = readFileSync(contract, 'utf8').split(/^(?=components:)/m);
    writeFileSync(contract, `${paths}${exampleIn('yaml').replace('paths:\n', '')}${PATHS}\n${components}`);
    for (const [id, text] of Object.entries(HANDLERS)) writeFileSync(join(folder, `handlers/${id}.ts`), text);

    await t.test(
      'until a new operation has generated files and a handler, `npm start` fails and names each stale or missing file',
      async (t) => {
        const stale = await run(folder, 'npm start').ended;
        t.equal(stale.code, 1);
        t.match(stale.output, /^src\/generated\/contract\.ts is stale: run `npm run generate`/m);
        const generated = await run(folder, 'npm run generate').ended;
        t.equal(generated.code, 1, 'the handler is missing');
        const missing = await run(folder, 'npm start').ended;
        t.equal(missing.code, 1);
        t.notMatch(missing.output, 'stale');
        for (const { output } of [stale, generated, missing]) {
          t.match(output, /^operation createPets has no handlers\/createPets\.ts$/m);
        }
      },
    );

    writeFileSync(join(folder, 'handlers/createPets.ts'), exampleIn('ts'));
    const test = "import t from 'tap';\n\nt.test('the new operation passes its own test', async (t) => t.ok(true));\n";
    for (const id of ['createPets', ...Object.keys(HANDLERS)]) {
      writeFileSync(join(folder, `test/operations/${id}.test.ts`), test);
    }

    await t.test(
      'the server checks the key and the body of a request to a new operation, and documents the operation',
      async (t) => {
        const server = run(folder, 'npm start', ORIGIN);
        t.teardown(() => process.kill(-server.pid));
        const { output } = await server.ended;
        const [origin] = ORIGIN.exec(output) ?? [];
        if (!origin) throw new Error(output);
        const send = async (body: unknown, headers: Record<string, string> = { authorization: `Bearer ${KEY}` }) => {
          const type = { 'content-type': 'application/json' };
          const reply = await fetch(`${origin}/v1/pet-batches`, {
            method: 'POST',
            body: JSON.stringify(body),
            headers: { ...type, ...headers },
          });
          return { status: reply.status, body: await reply.json() };
        };

        const pets = [
          { name: 'Rex', categoryId: 7, status: 'sold' },
          { name: 'Mia', categoryId: 7 },
        ];
        const added = await send(pets);
        t.equal(added.status, 201);
        t.strictSame(added.body, [
          { id: 1, ...pets[0] },
          { id: 2, ...pets[1] },
        ]);
        t.equal((await send(pets, {})).status, 401);
        const { status, body } = await send([pets[0], { name: '', categoryId: '7', stauts: 'sold' }]);
        t.equal(status, 400);
        t.match(body, { code: 'invalid_request', message: /body\.1\.stauts.*body\.1\.name.*body\.1\.categoryId/ });
        t.equal((await send([])).status, 400);
        t.equal((await send(Array(101).fill(pets[1]))).status, 400);
        await t.test('new operations may declare CSV replies, merge-patch bodies and forms with files', (t) =>
          callFeatures(t, `${origin}/v1`),
        );
        const document = await (await fetch(`${origin}/openapi.json`)).json();
        t.match(document, { paths: { '/pet-batches': { post: { operationId: 'createPets' } } } });
      },
    );

    const files = TESTS.map((name) => `test/${name}`).join(' ');
    const [lint, properties, others] = await Promise.all([
      run(folder, 'npm run contract:lint').ended,
      run(folder, `RUNS=100 ${NODE} test/properties/requests.test.ts`).ended,
      run(folder, `TEST_FILES='${files}' ${NODE} scripts/test/in-one-process.js`).ended,
    ]);

    await t.test(
      'the lint accepts a contract with new operations, and the property tests cover them without new test code',
      async (t) => {
        t.equal(lint.code, 0, lint.output);
        t.equal(properties.code, 0, properties.output);
        for (const rule of ['body minItems', 'body maxItems', 'body.items.name maxLength', 'body x-max-bytes']) {
          t.match(properties.output, `createPets refuses ${rule}`);
        }
        t.match(properties.output, 'createPets accepts what the contract allows');
        t.match(properties.output, 'createPets answers 401 without a valid key');
        t.match(properties.output, 'putPicture as multipart/form-data refuses body.petId minimum');
      },
    );

    await t.test('after an operation is added, the tests of the other operations still pass', async (t) => {
      t.equal(others.code, 0, others.output.slice(others.output.search(/\bnot ok/)));
    });

    await t.test(
      'adding operations changes only the contract, the generated files, and the handlers and tests of these operations',
      async (t) => {
        const after = readFiles(folder);
        const touched = [...after].filter(([name, hash]) => before.get(name) !== hash).map(([name]) => name);
        t.strictSame(touched.sort(), [
          'handlers/createPets.ts',
          'handlers/patchLabels.ts',
          'handlers/putPicture.ts',
          'openapi/petstore.yaml',
          'src/generated/contract.ts',
          'src/generated/handlers.ts',
          'test/operations/createPets.test.ts',
          'test/operations/patchLabels.test.ts',
          'test/operations/putPicture.test.ts',
        ]);
        t.strictSame(
          [...before.keys()].filter((name) => !after.has(name)),
          [],
        );
      },
    );
  },
);
