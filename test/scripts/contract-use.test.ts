/** `npm run contract:use`: its table, and what it writes. The contracts are in `test/other-contracts/`. */
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { parse, stringify } from 'yaml';
import { withFile } from '../../scripts/contract-use/fetching.ts';
import { judge } from '../../scripts/contract-use/judgement.ts';
import { use as useAny } from '../../scripts/contract-use.ts';
import type { Json } from '../any-json.ts';
import { fileOf } from '../other-contracts.ts';

const EMPTY = pathToFileURL(`${t.testdir({ handlers: {}, openapi: {}, src: {} })}/`);

/** Without a trial: contract-trial.test.ts has that. */
const use = (args: string[], root = EMPTY) => useAny(args, root, []);

/** The contract in a file of its own, after an edit. */
function edited(t: Test, name: string, edit: (contract: Json) => void): string {
  const contract = parse(readFileSync(fileOf(name), 'utf8'));
  edit(contract);
  return `${t.testdir({ 'contract.yaml': stringify(contract) })}/contract.yaml`;
}

/** Each refusal in the table, with its place in the file and what to change. */
async function refusalsOf(file: string): Promise<string[]> {
  const { text, code } = await use([file]);
  if (code !== 1) throw new Error(text);
  return [...text.matchAll(/refused: (.*)/g)].map(([, line = '']) => line.replace(file, 'contract.yaml'));
}

t.test('a contract that is served is shown so, and nothing is written', async (t) => {
  t.strictSame(await use([fileOf('api-with-examples')]), {
    text: `listVersionsv2       GET /    served
getVersionDetailsv2  GET /v2  served

All of it is served: 2 operations.
In a copy with the handlers that fit it, it was generated, compiled and started, in 1 s.

To put it in place: --write`,
    code: 0,
  });
  const one = edited(t, 'api-with-examples', ({ paths }) => delete paths['/v2']);
  t.match((await use([one])).text, /^All of it is served: 1 operation\.$/m);
});

t.test('all refusals are shown at once, each with what to change', async (t) => {
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
    'contract.yaml:37:11: parameter r: style deepObject is not supported; change: parameters of simple types or arrays of them; what is deeper belongs in a body',
    'contract.yaml:70:7: security: a is not in components.securitySchemes; change: declare it there, or take it out',
    'contract.yaml:94:9: response 400: image/* is not a media type, such as application/json',
  ]);
});

t.test('of many operations, those that are refused are shown, and how many are served', async (t) => {
  const file = edited(t, 'api-with-examples', ({ paths }) => {
    for (let index = 0; index < 22; index++) paths[`/${index}`] = structuredClone(paths['/v2']);
    for (const item of Object.values<Json>(paths)) delete item.get.operationId;
    const content = { 'application/json': { schema: { type: 'string' } } };
    for (const path of ['/3', '/4']) paths[path].get.responses['204'] = { description: 'Done.', content };
    paths['/7'].get.parameters = [{ name: 'q', in: 'cookie', schema: {} }];
  });
  const { text } = await use([file]);
  t.match(text, /^get7 {2}GET \/7 {2}refused: \S+: parameter q: in cookie .*\nThe 23 others are served\.\n/);
  t.match(text, /\n\nnote: operation get3: response 204: its content is never sent: .* \(and 1 more like it\)\n\n/);
  t.match(text, /\n1 refused, 23 served: change what is refused, and run it again\.\nWhat a contract may use: .*$/);
});

t.test('what --write would need, and what it removes, is told before', async (t) => {
  const root = pathToFileURL(`${t.testdir({ handlers: { 'getPet.ts': 'ours' }, openapi: {}, src: {} })}/`);
  const needed = '--replace-handlers, which removes all handlers that there are';
  t.match((await use([fileOf('api-with-examples')], root)).text, `To put it in place: --write ${needed}`);
  // Before it is tried, which takes half a minute.
  t.strictSame(await use([fileOf('api-with-examples'), '--write'], root), {
    text: `Nothing is written: in handlers/, getPet.ts would have no operation. Move them, or add ${needed}.`,
    code: 1,
  });
});

t.test(
  'a contract that cannot be read is refused with the reason, such as Swagger 2 with the command that converts it',
  async (t) => {
    const file = edited(t, 'petstore', (contract) => (contract.swagger = '2.0'));
    t.match(await refusalsOf(file), [/^contract\.yaml:1:1: it is OpenAPI 2\.0; convert it to 3\.1: npx @scalar/]);
    await t.rejects(use([]), { message: 'npm run contract:use -- <file or URL>' });
    await t.rejects(use([fileOf('nothing')]), { message: /no such file/ });
    await t.rejects(judge(fileOf('nothing')), { message: /no such file/ }, 'also where it is gone by then');
  },
);

t.test('with --write it is put in place, its text as it is, with a handler for each operation', async (t) => {
  const folder = t.testdir({
    ...{ openapi: {}, src: { 'errors.ts': 'ours' } },
    handlers: { 'getPet.ts': 'ours', 'listVersionsv2.ts': 'kept', 'README.md': '' },
  });
  const root = pathToFileURL(`${folder}/`);
  const file = fileOf('api-with-examples');
  const refused = await use([file, '--write'], root);
  t.equal(refused.code, 1);
  t.match(refused.text, 'Nothing is written: in handlers/, getPet.ts would have no operation.');
  t.strictSame(readdirSync(`${folder}/openapi`), []);

  const { text, code } = await use([file, '--write', '--replace-handlers'], root);
  t.equal(code, 0);
  t.match(text, '2 handlers made, 0 kept, 2 removed.');
  t.strictSame(readFileSync(`${folder}/openapi/petstore.yaml`), readFileSync(file));
  t.strictSame(readdirSync(`${folder}/handlers`).sort(), ['README.md', 'getVersionDetailsv2.ts', 'listVersionsv2.ts']);
  t.match(readFileSync(`${folder}/handlers/listVersionsv2.ts`, 'utf8'), "handle('listVersionsv2', notImplemented)");
  t.match(text, 'src/errors.ts has its errors: go through it.');
  t.match(readFileSync(`${folder}/src/errors.ts`, 'utf8'), /export const toErrorBody\b/);
  writeFileSync(`${folder}/src/errors.ts`, 'export const toErrorBody = 1;\n');
  const again = (await use([file, '--write'], root)).text;
  t.match(again, '0 handlers made, 2 kept, 0 removed.');
  t.match(again, 'src/errors.ts is kept: npm run generate says where it does not fit.');
});

t.test('with --write, src/errors.ts is kept where it makes the errors of the contract already', async (t) => {
  const folder = t.testdir({ openapi: {}, handlers: {}, src: { 'errors.ts': readFileSync('src/errors.ts', 'utf8') } });
  const root = pathToFileURL(`${folder}/`);
  const { text } = await use(['openapi/petstore.yaml', '--write', '--replace-handlers'], root);
  t.match(text, 'src/errors.ts is kept: what it makes fits this contract.');
  t.equal(readFileSync(`${folder}/src/errors.ts`, 'utf8'), readFileSync('src/errors.ts', 'utf8'));
  const broken = t.testdir({ 'broken.json': '{"openapi":"3.1.0"}' });
  t.equal(await (await judge(`${broken}/broken.json`)).fits('export const toErrorBody = () => ({});'), false);
});

t.test(
  'a contract with OAuth 2 gets a check of tokens that refuses them all, unless there is one already',
  async (t) => {
    const root = pathToFileURL(`${t.testdir({ openapi: {}, handlers: {}, src: {} })}/`);
    const tokens = new URL('src/tokens.ts', root);
    const file = fileOf('tictactoe');
    const { text } = await use([file, '--write'], root);
    t.match(
      text,
      'note: security scheme app2AppOauth: src/tokens.ts is to check its tokens; the first one refuses them all',
    );
    t.match(readFileSync(tokens, 'utf8'), "({ refused: 'tokens are not checked yet' })");
    writeFileSync(tokens, 'export const verifyToken: VerifyToken<Claims> | undefined = undefined;');
    await use([file, '--write'], root);
    t.match(readFileSync(tokens, 'utf8'), 'tokens are not checked yet');
    writeFileSync(tokens, 'ours');
    await use([file, '--write'], root);
    t.equal(readFileSync(tokens, 'utf8'), 'ours');
  },
);

/** A thousandth of its size when it is sent. */
const BOMB_SIZE = 4_000_000;
const BOMB = gzipSync(Buffer.alloc(BOMB_SIZE));

t.test('a contract may be at a URL; where nothing comes from there, one line says why', async (t) => {
  const server = createServer(({ url }, response) => {
    response.setHeader('connection', 'close');
    if (url === '/contract.yaml') response.end(readFileSync(fileOf('api-with-examples')));
    else if (url === '/cut.yaml')
      response.writeHead(200, { 'content-length': 9 }).write('short', () => response.destroy());
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
  t.strictSame(await use([`${origin}/contract.yaml`]), await use([fileOf('api-with-examples')]));
  const root = pathToFileURL(`${t.testdir({ openapi: {}, handlers: {}, src: {} })}/`);
  t.equal((await use([`${origin}/contract.yaml`, '--write'], root)).code, 0);
  t.strictSame(readFileSync(new URL('openapi/petstore.yaml', root)), readFileSync(fileOf('api-with-examples')));

  const why = async (path: string, limits?: { timeLimit?: number; sizeLimit?: number }) => {
    const url = origin + path;
    const told = await withFile(url, async () => 'a contract', limits).catch(({ message }) => message);
    return told.replace(`${url} cannot be fetched: `, '');
  };
  t.equal(await why('/nothing.yaml'), 'the server answers 404');
  t.match(await why('/silent.yaml', { timeLimit: 100 }), /^The operation was aborted due to timeout$/);
  t.equal(await why('/bomb.yaml', { sizeLimit: 1_000_000 }), 'it has more than 1000000 bytes');
  for (const path of ['/bomb.yaml', '/none.yaml']) t.equal(await why(path, { sizeLimit: BOMB_SIZE }), 'a contract');
  t.match(await why('/cut.yaml'), /^(other side closed|Response body length .*)$/);
  const gone = createServer();
  await once(gone.listen(0, '127.0.0.1'), 'listening');
  const nobodys = `http://127.0.0.1:${(gone.address() as AddressInfo).port}/`;
  gone.close();
  await once(gone, 'close');
  await t.rejects(use([nobodys]), { message: new RegExp(`^${nobodys} cannot be fetched: connect ECONNREFUSED `) });
});

/** As a command. */
function run(script: string, file: string) {
  const node = ['--import=./scripts/typescript/register.js', `scripts/${script}.ts`, file];
  return spawnSync(process.execPath, node, { encoding: 'utf8' });
}

t.test('as a command, it fails where a contract is refused', async (t) => {
  t.match(run('contract-use', fileOf('nothing')), { status: 1, stdout: 'no such file' });
});

t.test('what is no file is refused, and a pipe is not waited for', async (t) => {
  const folder = t.testdir();
  execFileSync('mkfifo', [`${folder}/pipe`]);
  for (const name of [`${folder}/pipe`, folder])
    await t.rejects(use([name]), { message: `${name} cannot be read: it is no regular file` });
});

t.test(
  'characters in a third-party contract that a terminal obeys, or that begin a line, are shown as their codes',
  async (t) => {
    const file = edited(t, 'api-with-examples', (contract) => {
      contract.paths['/\u001b]0;owned\u0007\nowned'] = { ...contract.paths['/v2'], put: contract.paths['/v2'].get };
      contract.components = { schemas: { '\u001b]0;owned\u0007': { type: 'string' } } };
    });
    for (const script of ['contract-use', 'contract-lint', 'contract-diff']) {
      const { stdout, stderr } = run(script, file);
      t.notMatch(stdout + stderr, /[^\P{Cc}\n]|^owned/mu, script);
      if (script !== 'contract-diff') t.match(stdout, '\\u{1b}]0;owned\\u{7}', script);
    }
  },
);
