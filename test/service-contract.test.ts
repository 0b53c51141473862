/** Loads the contract of a service that was built, and of a service that runs from its sources. */
import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompressSync } from 'node:zlib';
import t from 'tap';
import { toErrorBody } from '../src/contract-first/engine/errors/error-body.ts';
import { loadServiceCodecs, loadServiceContract, toFinishedFile } from '../src/contract-first/service-contract.ts';
import { domain } from '../src/generated/domain.ts';
import { handlers } from '../src/generated/handlers.ts';
import { startProgram } from './program.ts';

t.test(
  "if a service's contract was not built, the service checks and prepares it when it loads the contract",
  async (t) => {
    const folder = t.testdir({ openapi: {} });
    const contract = pathToFileURL(`${folder}/openapi/petstore.yaml`);
    copyFileSync(new URL('../openapi/petstore.yaml', import.meta.url), contract);
    const { operations, loadPage } = await loadServiceContract({ contract, toErrorBody, domain, handlers });
    t.strictSame([...operations.keys()], ['listPets', 'createPet', 'getPet']);
    t.match(
      String(brotliDecompressSync(await loadPage())),
      /id="createPet"/,
      'the reference page is built when a client requests it',
    );
    const { pets } = await loadServiceCodecs(contract, domain);
    t.match(pets.check({ id: 1n, name: 'Rex' }), [/categoryId/]);
    t.notOk(existsSync(toFinishedFile(contract)), 'only a build writes the file of the prepared contract');

    const wrong = () => ({ code: 1 }) as never;
    await t.rejects(loadServiceContract({ contract, toErrorBody: wrong, domain, handlers }), {
      name: 'ContractError',
      message: /petstore\.yaml:\d+:\d+: operation listPets: response 400: what toErrorBody in src\/errors\.ts makes of/,
    });
    await t.rejects(loadServiceContract({ contract, toErrorBody, domain, handlers: {} }), {
      message: /operation listPets has no handlers\/listPets\.ts/,
    });
  },
);

t.test("a built service serves its contract without the build's code", async (t) => {
  const root = t.testdir({});
  cpSync(process.env.TEST_PROGRAM as string, root, { recursive: true });
  rmSync(`${root}/node_modules/contract-first/dist/contract`, { recursive: true });
  const env = { PORT: '0', DATABASE_URL: 'sqlite:pets.db' };
  const program = startProgram(t, 'src/main.js', { root, env });
  const [, key = '', origin] = await program.written('stderr', /Bearer (\S+)'[\s\S]*?'(http:[^ ]*:\d+)\/v1/);
  const get = async (path: string) => (await fetch(`${origin}${path}`)).text();
  const [, command = ''] = /Try it:\n\n([\s\S]*?)\n\n/.exec(program.output.stderr) ?? [];
  const { stdout } = await promisify(execFile)('sh', ['-c', command]);
  t.match(stdout, /^HTTP\/1\.1 201 Created/, 'the printed curl command creates a pet');
  t.match(program.output.stderr, /After a restart it is gone: make one that lasts with `node dist\/src\/main\.js keys/);
  t.equal(await get('/openapi.yaml'), readFileSync('openapi/petstore.yaml', 'utf8'));
  t.match(await get('/docs/'), 'listPets');
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'Rex', categoryId: 1 });
  t.equal((await fetch(`${origin}/v1/pets`, { method: 'POST', headers, body })).status, 201);
});
