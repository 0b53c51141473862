/**
 * The key that a first start makes, and the curl command that it prints, for contracts with keys in various locations.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { pino } from 'pino';
import t from 'tap';
import { findExampleRequest } from '../../../src/contract-first/cli/sandbox/first-request.ts';
import { toFirstCurl } from '../../../src/contract-first/engine/contract/first-request.ts';
import { notImplemented } from '../../../src/contract-first/engine/errors/catalogue.ts';
import { toErrorBody } from '../../../src/contract-first/engine/errors/error-body.ts';
import { findKeys } from '../../../src/contract-first/operate/commands/check.ts';
import { makeOneRunKey, takesKeys, toFirstWords } from '../../../src/contract-first/operate/process/one-run-key.ts';
import { makeKey, toStoredKey } from '../../../src/contract-first/store/api-keys.ts';
import { load } from '../../added-operations.ts';
import { loadConfig } from '../../config.ts';
import { openUrl } from '../../database.ts';
import { type Edit, edited } from '../../edited-contract.ts';
import { finished, KEY, startService } from '../../service.ts';

/** Returns an edit that makes all operations accept the key of this scheme. */
const withScheme =
  (scheme: object): Edit =>
  ({ securitySchemes, components, listPets, createPet, getPet }) => {
    delete securitySchemes.bearerAuth;
    securitySchemes.only = scheme;
    components.headers['WWW-Authenticate'].schema = { type: 'string' };
    for (const operation of [listPets, createPet, getPet]) operation.security = [{ only: [] }];
  };

t.test(
  'the curl command that a first start prints creates a record; it sends the API key where the contract declares it',
  async (t) => {
    const cases: [edit: Edit, words: string][] = [
      [() => {}, `-H 'Authorization: Bearer ${KEY}'`],
      [withScheme({ type: 'apiKey', in: 'header', name: 'X-Key' }), `-H 'X-Key: ${KEY}'`],
      [withScheme({ type: 'apiKey', in: 'query', name: 'a&b' }), `/v1/pets?a%26b=${KEY}'`],
      [withScheme({ type: 'http', scheme: 'basic' }), `-u '${KEY}:'`],
      [withScheme({ type: 'apiKey', in: 'cookie', name: 'key' }), `-H 'Cookie: key=${KEY}'`],
      [withScheme({ type: 'apiKey', in: 'header', name: "X-'|exit|'" }), `-H 'X-'\\''|exit|'\\'': ${KEY}'`],
      [({ createPet }) => (createPet.security = []), "-d '{"],
    ];
    for (const [edit, words] of cases) {
      const yaml = edited(edit);
      const contract = finished(await load(t, yaml));
      const { port } = await startService(t, { contract, yaml });
      const request = await findExampleRequest(contract, { toErrorBody, handlers: {} });
      const line = request ? toFirstCurl(request, `http://127.0.0.1:${port}`, KEY) : '';
      t.ok(line.includes(words), line);
      t.notMatch(line, /<(UUID|API_KEY)>/);
      const { stdout } = await promisify(execFile)('sh', ['-c', `${line} --silent --show-error`]);
      t.match(stdout, /^HTTP\/1\.1 201 Created\r\n.*"id":1,/s, line);
    }
  },
);

t.test('if a request would need a third-party token, a first start prints no curl command for it', async (t) => {
  const tokens = withScheme({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' });
  const contract = finished(await load(t, edited(tokens)));
  t.match(await findExampleRequest(contract, { toErrorBody, handlers: {} }), { url: '/v1/pets' });
  const verifyToken = () => ({ refused: 'no token is valid' });
  const firstRequest = await findExampleRequest(contract, { toErrorBody, verifyToken, handlers: {} });
  t.equal(firstRequest, undefined);
  const words = toFirstWords(KEY, 'http://a', { firstRequest });
  t.notMatch(words, 'Try it');
  t.match(words, `make one that lasts with \`node dist/src/main.js keys create <name>\`.\n\nDocumentation`);
});

t.test('a first start prints no curl command for an operation whose handler answers 501', async (t) => {
  const yaml = edited(() => {});
  const contract = finished(await load(t, yaml));
  const request = await findExampleRequest(contract, { toErrorBody, handlers: { createPet: notImplemented } });
  t.match(request, { url: '/v1/pets' });
  t.notOk(request?.options.join(' ').includes('-d '), 'the command is not a create, because its handler answers 501');
  const none = Object.fromEntries([...contract.operations.keys()].map((id) => [id, notImplemented]));
  t.equal(await findExampleRequest(contract, { toErrorBody, handlers: none }), undefined);
});

t.test('in production, a start without an API key fails, and the error names `keys create`', async (t) => {
  const store = openUrl('sqlite::memory:');
  t.teardown(() => store.close());
  const logger = pino({ level: 'silent' });
  await t.rejects(makeOneRunKey({ ...loadConfig({ NODE_ENV: 'production' }), name: 'petstore' }, store, logger), {
    name: 'ConfigError',
    message:
      /^No API key is configured\. Make one with `node dist\/src\/main\.js keys create <name>`, or set API_KEYS,/,
  });
});

t.test('a service that accepts only third-party tokens needs no API key, not even in production', async (t) => {
  const contract = await load(t, edited(withScheme({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' })));
  const [check, production] = [() => {}, { ...loadConfig({ NODE_ENV: 'production' }), name: 'petstore' }];
  t.strictSame([takesKeys(contract, check), takesKeys(contract, undefined)], [false, true]);
  const keyed = await load(t, edited(withScheme({ type: 'http', scheme: 'basic' })));
  t.equal(takesKeys(keyed, check), true);
  const store = openUrl('sqlite::memory:');
  t.teardown(() => store.close());
  const isTaken = takesKeys(contract, check);
  t.equal(await makeOneRunKey(production, store, pino({ level: 'silent' }), isTaken), undefined);
  t.match(findKeys(production, { validKeys: 0, keys: 0 } as never, isTaken), /^none is needed/);
});

t.test('a start creates no temporary API key if the database contains a valid one', async (t) => {
  const store = openUrl('sqlite::memory:');
  t.teardown(() => store.close());
  await store.createKey(toStoredKey(makeKey('petstore'), 'Ada'));
  let log = '';
  t.equal(
    await makeOneRunKey({ ...loadConfig({}), name: 'petstore' }, store, pino({}, { write: (line) => (log += line) })),
    undefined,
  );
  t.equal(log, '');
});

t.test('if all API keys are revoked or expired, the service starts without a new key and answers 401', async (t) => {
  const now = new Date();
  for (const end of [{ revokedAt: now.toISOString() }, { expiresAt: now.toISOString() }]) {
    for (const NODE_ENV of ['production', '']) {
      const store = openUrl('sqlite::memory:');
      t.teardown(() => store.close());
      await store.createKey({ ...toStoredKey(makeKey('petstore'), 'Ada'), ...end });
      let log = '';
      const logger = pino({}, { write: (line) => (log += line) });
      t.equal(await makeOneRunKey({ ...loadConfig({ NODE_ENV }), name: 'petstore' }, store, logger), undefined);
      t.match(log, 'no API key is valid: every caller is refused. Make one with');
    }
  }
});
