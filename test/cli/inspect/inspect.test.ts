/**
 * `npm run contract:inspect`: the table that it prints, and the contract that it writes. The contracts are in
 * `test/other-contracts/`.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { parse, stringify } from 'yaml';
import { withFile } from '../../../src/contract-first/cli/inspect/files.ts';
import { inspectContract } from '../../../src/contract-first/cli/inspect/inspect.ts';
import { judge } from '../../../src/contract-first/cli/inspect/judgement.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import { METHODS } from '../../../src/contract-first/engine/contract/document.ts';
import type { Json } from '../../any-json.ts';
import { fileOf, OTHERS } from '../../other-contracts.ts';

/** Writes an edited third-party contract to a file and returns its path. */
function edited(t: Test, name: string, edit: (contract: Json) => void): string {
  const contract = parse(readFileSync(fileOf(name), 'utf8'));
  edit(contract);
  return `${t.testdir({ 'contract.yaml': stringify(contract) })}/contract.yaml`;
}

/** Returns the problems in the table, each with its position in the file and its fix. */
async function refusalsOf(file: string): Promise<string[]> {
  const { text, code } = await inspectContract(file);
  if (code !== 1) throw new Error(text);
  return [...text.matchAll(/refused: (.*)/g)].map(([, line = '']) => line.replace(file, 'contract.yaml'));
}

t.test('`inspect` prints each operation of a contract that can be served, and writes no file', async (t) => {
  t.strictSame(await inspectContract(fileOf('api-with-examples')), {
    text: `listVersionsv2       GET /    served
getVersionDetailsv2  GET /v2  served

All of it is served: 2 operations.`,
    code: 0,
  });
  const one = edited(t, 'api-with-examples', ({ paths }) => delete paths['/v2']);
  t.match((await inspectContract(one)).text, /^All of it is served: 1 operation\.$/m);
});

t.test('`inspect` prints all errors of a contract, each with its fix', async (t) => {
  const file = edited(t, 'link', ({ paths }) => {
    const [user, owner, repository, merge] = Object.values<Json>(paths);
    delete user.get.responses['200'].links;
    delete owner.get.responses['200'].links;
    owner.get.parameters.push({ name: 'q', in: 'cookie', schema: { type: 'string' } });
    owner.get.parameters.push({ name: 'r', in: 'query', style: 'deepObject', schema: { type: 'array' } });
    repository.get.security = [{ a: [] }];
    merge.post.responses['400'] = { description: 'No', content: { 'image/*': {} } };
  });
  t.strictSame(await refusalsOf(file), [
    'contract.yaml:32:11: parameter q: in cookie is not supported; change: send it in a header or the query',
    'contract.yaml:37:11: parameter r: style deepObject needs an object of simple values and arrays of them; change: parameters of simple types or arrays of them; what is deeper belongs in a body',
    'contract.yaml:70:7: security: a is not in components.securitySchemes; change: declare it there, or take it out',
    'contract.yaml:97:13: response 400: image/* is not a media type, such as application/json',
  ]);
});

t.test(
  'if a contract has many operations, `inspect` lists only those that cannot be served and counts the others',
  async (t) => {
    const file = edited(t, 'api-with-examples', ({ paths }) => {
      for (let index = 0; index < 22; index++) paths[`/${index}`] = structuredClone(paths['/v2']);
      for (const item of Object.values<Json>(paths)) delete item.get.operationId;
      const content = { 'application/json': { schema: { type: 'string' } } };
      for (const path of ['/3', '/4']) paths[path].get.responses['204'] = { description: 'Done.', content };
      paths['/7'].get.parameters = [{ name: 'q', in: 'cookie', schema: {} }];
    });
    const { text } = await inspectContract(file);
    t.match(text, /^get7 {2}GET \/7 {2}refused: \S+: parameter q: in cookie .*\nThe 23 others are served\.\n/);
    t.match(text, /\n\nnote: operation get3: response 204: its content is never sent: .* \(and 1 more like it\)\n\n/);
    t.match(text, /\n1 refused, 23 served: change what is refused, and run it again\.\nWhat a contract may use: .*$/);
  },
);

t.test('if `inspect` cannot read a contract, it prints the reason; for Swagger 2 it names a converter', async (t) => {
  const file = edited(t, 'petstore', (contract) => (contract.swagger = '2.0'));
  t.match(await refusalsOf(file), [/^contract\.yaml:1:1: it is OpenAPI 2\.0; convert it to 3\.1: npx @scalar/]);
  await t.rejects(inspectContract(fileOf('nothing')), { message: /no such file/ });
  await t.rejects(
    judge(fileOf('nothing')),
    { message: /no such file/ },
    'the judgement of a missing file has the same error',
  );
});

t.test('`inspect --write` copies a contract unchanged to a new file if nothing has to change', async (t) => {
  const out = `${t.testdir()}/out.yaml`;
  const file = fileOf('webhook');
  t.match(await inspectContract(file, { write: out }), {
    text: /\n\nThe contract is written to \S+out\.yaml\.$/,
    code: 0,
  });
  t.strictSame(readFileSync(out), readFileSync(file));
  writeFileSync(out, 'ours');
  const before = `${out} cannot be written: there is such a file`;
  await t.rejects(inspectContract(file, { write: out }), { message: before });
  t.equal(readFileSync(out, 'utf8'), 'ours', 'no file is overwritten');
  await t.rejects(inspectContract(file, { write: `${out}/a` }), { message: /a cannot be written: ENOTDIR: [^\n]*$/ });
});

t.test('`inspect --write` adds missing operationIds, and the contract keeps its meaning', async (t) => {
  for (const name of Object.keys(OTHERS)) {
    const nameless = edited(t, name, ({ paths = {} }) => {
      for (const operation of Object.values<Json>(paths).flatMap(Object.values<Json>)) delete operation.operationId;
    });
    const out = `${nameless}.out`;
    const { text } = await inspectContract(nameless, { write: out });
    const [before, after] = [await loadContract(nameless), await loadContract(out)];
    t.strictSame(after.document, before.document, name);
    const yaml = readFileSync(out, 'utf8');
    const { paths = {} } = parse(yaml);
    const ids = [...before.operations.keys()];
    const items = Object.values<Json>(paths);
    t.strictSame(
      items.flatMap((item) => METHODS.flatMap((method) => item[method]?.operationId ?? [])),
      ids,
    );
    const count = ids.length > 0 ? `, with ${ids.length} new operationIds?` : '';
    t.match(text, new RegExp(`The contract is written to \\S+${count}\\.$`));
    t.strictSame(
      parse(yaml, { version: '1.1' }),
      parse(yaml),
      'YAML 1.1 parsers read the written contract in the same way',
    );
  }
});

t.test('`inspect --write` converts a contract from OpenAPI 3.0 to 3.1', async (t) => {
  const file = edited(t, 'petstore', (contract) => {
    contract.openapi = '3.0.3';
    contract.components.schemas.Pet.properties.tag = { type: 'string', nullable: true };
    contract.components.schemas.Pet.properties.id = { type: 'integer', minimum: 0, exclusiveMinimum: true };
    delete contract.paths['/pets'].get.operationId;
  });
  const { text } = await inspectContract(file, { write: `${file}.out` });
  t.match(text, /\.out, as OpenAPI 3\.1\.1 in place of 3\.0\.3, with 1 new operationId\.$/);
  const { openapi, components } = parse(readFileSync(`${file}.out`, 'utf8'));
  t.equal(openapi, '3.1.1');
  t.match(components.schemas.Pet.properties, {
    tag: { type: ['string', 'null'] },
    id: { type: 'integer', exclusiveMinimum: 0 },
  });
  const [before, after] = [await loadContract(file), await loadContract(`${file}.out`)];
  t.strictSame(after.document, before.document);
});

t.test('`inspect --write` keeps operationIds; if two operations share one, the second gets another', async (t) => {
  const file = edited(t, 'petstore-expanded', ({ paths }) => {
    paths['/pets'].post.operationId = 'findPets';
    paths['x-theirs'] = { get: 'findPets' };
  });
  t.match((await inspectContract(file, { write: `${file}.out` })).text, /, with 2 new operationIds\.$/);
  const { paths } = parse(readFileSync(`${file}.out`, 'utf8'));
  t.match(paths['/pets'], { get: { operationId: 'findPets' }, post: { operationId: 'postPets' } });
  t.strictSame(paths['x-theirs'], { get: 'findPets' });
});

t.test('`inspect --write` writes no file for a contract with errors', async (t) => {
  const file = edited(t, 'petstore', ({ paths }) => (paths['/pets'].trace = paths['/pets'].get));
  const out = `${file}.out`;
  t.match(await inspectContract(file, { write: out }), { text: /TRACE is not served/, code: 1 });
  t.notOk(existsSync(out));
});

t.test('`inspect` lists the code that a team has to write, such as src/tokens.ts or src/errors.ts', async (t) => {
  const { text } = await inspectContract(fileOf('tictactoe'));
  t.match(
    text,
    "\nnote: security scheme app2AppOauth: its tokens are the server's own keys until src/tokens.ts checks them; ",
  );
  t.match(await inspectContract(fileOf('uspto')), {
    text: /\nnote: operation list-searchable-fields: response 404: what toErrorBody in src\/errors\.ts makes of .*\n\nAll of it can be served: 3 operations\. First write src\/errors\.ts, as described in the notes \(new writes it\): generate fails until then\.$/s,
    code: 0,
  });
});

t.test('in `new`, the report asks the team to write src/errors.ts only if `new` finds no body that fits', async (t) => {
  t.match(await inspectContract(fileOf('uspto'), { new: true }), {
    text: /(?<!toErrorBody[\s\S]*)\nAll of it is served: 3 operations\.$/,
    code: 0,
  });
  const odd = { type: 'object', required: ['x'], properties: { x: { type: 'string', pattern: '^[é]{3}-q$' } } };
  const file = edited(t, 'api-with-examples', ({ paths }) => {
    const content = { 'application/json': { schema: odd } };
    paths['/'].get.responses.default = { description: 'No.', content };
  });
  for (const options of [{}, { new: true }])
    t.match((await inspectContract(file, options)).text, /as described in the notes; new finds no body for each of /);
});

t.test('`inspect` never runs text of a contract as code', async (t) => {
  const name = 'x\u2028;globalThis.hasRun=true//';
  const schema = { type: 'object', required: [name], properties: { [name]: { type: 'string', enum: ['a', 'b'] } } };
  const file = edited(t, 'api-with-examples', ({ paths }) => {
    paths['/'].get.responses['400'] = { description: 'No.', content: { 'application/json': { schema } } };
  });
  const out = `${file}.out`;
  t.match(await inspectContract(file, { write: out }), { code: 0 });
  t.notOk('hasRun' in globalThis);
  t.match((await loadContract(out)).document.paths['/']?.get?.responses?.['400']?.content, {
    'application/json': { schema },
  });
});

/** The size of a reply that is compressed to a thousandth of it. */
const BOMB_SIZE = 4_000_000;
const BOMB = gzipSync(Buffer.alloc(BOMB_SIZE));

t.test('`inspect` reads a contract from a URL; if the download fails, one line gives the reason', async (t) => {
  const server = createServer(({ url }, response) => {
    response.setHeader('connection', 'close');
    if (url === '/contract.yaml') response.end(readFileSync(fileOf('api-with-examples')));
    else if (url === '/cut.yaml')
      response.writeHead(200, { 'content-length': 9 }).write('short', () => response.destroy());
    else if (url === '/to-file.yaml') response.writeHead(302, { location: 'file:///etc/hostname' }).end();
    else if (url === '/to-data.yaml') response.writeHead(302, { location: 'data:,openapi' }).end();
    else if (url === '/none.yaml') response.writeHead(204).end();
    else if (url === '/bomb.yaml') response.writeHead(200, { 'content-encoding': 'gzip' }).end(BOMB);
    else if (url !== '/silent.yaml') response.writeHead(404).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  t.strictSame(await inspectContract(`${origin}/contract.yaml`), await inspectContract(fileOf('api-with-examples')));
  const out = `${t.testdir()}/out.yaml`;
  t.equal((await inspectContract(`${origin}/contract.yaml`, { write: out })).code, 0);
  t.match(await loadContract(out), { title: 'Simple API overview' });

  const why = async (path: string, limits?: { timeLimit?: number; sizeLimit?: number }) => {
    const url = origin + path;
    const reported = await withFile(url, async () => 'a contract', limits).catch(({ message }) => message);
    return reported.replace(`${url} cannot be fetched: `, '');
  };
  t.equal(await why('/nothing.yaml'), 'the server answers 404');
  for (const path of ['/to-file.yaml', '/to-data.yaml'])
    t.equal(await why(path), 'URL scheme must be a HTTP(S) scheme');
  t.match(await why('/silent.yaml', { timeLimit: 100 }), /^The operation was aborted due to timeout$/);
  t.equal(await why('/bomb.yaml', { sizeLimit: 1_000_000 }), 'it has more than 1000000 bytes');
  for (const path of ['/bomb.yaml', '/none.yaml']) t.equal(await why(path, { sizeLimit: BOMB_SIZE }), 'a contract');
  t.match(await why('/cut.yaml'), /^(other side closed|Response body length .*)$/);
  const gone = createServer();
  await once(gone.listen(0, '127.0.0.1'), 'listening');
  const nobodys = `http://127.0.0.1:${(gone.address() as AddressInfo).port}/`;
  gone.close();
  await once(gone, 'close');
  await t.rejects(inspectContract(nobodys), {
    message: new RegExp(`^${nobodys} cannot be fetched: connect ECONNREFUSED `),
  });
});

/** Runs a command of contract-first in its own process. */
function run(command: string, file: string) {
  const node = ['--import=./scripts/typescript/register.js', 'src/contract-first/cli/main.ts', command, file];
  return spawnSync(process.execPath, node, { encoding: 'utf8' });
}

t.test("`inspect` exits with 1 if the contract's file does not exist", async (t) => {
  t.match(run('inspect', fileOf('nothing')), { status: 1, stdout: 'no such file' });
});

t.test('`inspect` fails for a folder or a pipe as its contract, and does not wait for the pipe', async (t) => {
  const folder = t.testdir();
  execFileSync('mkfifo', [`${folder}/pipe`]);
  for (const name of [`${folder}/pipe`, folder])
    await t.rejects(inspectContract(name), { message: `${name} cannot be read: it is not a regular file` });
});

t.test('`inspect`, `lint` and `diff` print control characters in a contract as codes', async (t) => {
  const file = edited(t, 'api-with-examples', (contract) => {
    contract.paths['/\u001b]0;owned\u0007\nowned'] = { ...contract.paths['/v2'], put: contract.paths['/v2'].get };
    contract.components = { schemas: { '\u001b]0;owned\u0007': { type: 'string' } } };
  });
  for (const command of ['inspect', 'lint', 'diff']) {
    const { stdout, stderr } = run(command, file);
    t.notMatch(stdout + stderr, /[^\P{Cc}\n]|^owned/mu, command);
    if (command !== 'diff') t.match(stdout, '\\u{1b}]0;owned\\u{7}', command);
  }
});
