/** The tools never fetch a URL from a third-party contract, unless a user gives the URL. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { buildTypes } from '../../src/contract-first/cli/generate/contract-types.ts';
import { lint } from '../../src/contract-first/cli/lint/lint.ts';
import { loadContract } from '../../src/contract-first/contract/read/load-contract.ts';

const CONTRACT = readFileSync(new URL('../../openapi/petstore.yaml', import.meta.url), 'utf8');

/** Starts a server that answers with an example, and records the requested URLs. */
async function startCounting(t: Test) {
  const asked: (string | undefined)[] = [];
  const server = createServer(({ url }, response) => {
    asked.push(url);
    response.setHeader('content-type', 'application/json').end('{"code":"unauthorized","message":"No.","status":401}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  return { asked, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Returns the pet store's contract with this text in place of the example of a 401. */
function withExample(t: Test, example: string): string {
  const yaml = CONTRACT.replace(
    /(^ {4}Unauthorized:\n) {6}summary: No key.*\n {6}value: .*\n/m,
    `$1      ${example}\n`,
  );
  if (yaml === CONTRACT) throw new Error('The example is not there.');
  return `${t.testdir({ 'petstore.yaml': yaml })}/petstore.yaml`;
}

t.test('neither `generate` nor `lint` fetches the externalValue of an example', async (t) => {
  const { asked, origin } = await startCounting(t);
  const file = withExample(t, `externalValue: ${origin}/example.json`);
  const { document } = await loadContract(file);
  t.match((await buildTypes(document)).text, 'export interface paths');
  await lint([file]);
  t.strictSame(asked, []);
  t.match(JSON.stringify(document), origin, 'the served contract keeps the URL');
});

t.test('`generate` neither reads nor fetches a file that an example, default, x- field or mapping names', async (t) => {
  const { asked, origin } = await startCounting(t);
  const pipe = `${t.testdir()}/pipe.json`;
  execFileSync('mkfifo', [pipe]);
  for (const $ref of [`${origin}/a.json`, pipe, '../a.json']) {
    const schema = {
      ...{ example: { $ref }, examples: [{ $ref }], default: { $ref }, enum: [{ $ref }], 'x-a': { $ref } },
      ...{ oneOf: [{ $ref: '#/components/schemas/A' }], discriminator: { propertyName: 'a', mapping: { a: $ref } } },
    };
    const content = { 'application/json': { schema, examples: { a: { value: { $ref } } } } };
    const get = { operationId: 'a', 'x-a': [{ $ref }], responses: { '200': { description: 'A.', content } } };
    const components = { schemas: { A: { type: 'object', properties: { a: { type: 'string' } } } } };
    const paths = { '/a': { get } };
    const contract = { openapi: '3.1.0', info: { title: 'A', version: '1' }, paths, components, 'x-a': { $ref } };
    const { document } = await loadContract(`${t.testdir({ 'a.json': JSON.stringify(contract) })}/a.json`);
    t.match((await buildTypes(document)).text, 'export interface paths');
  }
  t.strictSame(asked, []);
});

t.test('`generate` and `lint` report a $ref to a URL as an error, and do not fetch it', async (t) => {
  const { asked, origin } = await startCounting(t);
  const file = withExample(t, `$ref: ${origin}/example.json`);
  await t.rejects(loadContract(file), { message: /\$ref http:.* is not in this document/ });
  t.match((await lint([file])).text, 'is not fetched');
  t.strictSame(asked, []);
});
