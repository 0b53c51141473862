/** The key of a first run, and the line that tries it, with contracts whose keys are sent in other places. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { pino } from 'pino';
import t from 'tap';
import { findKeys } from '../../../src/contract-first/operate/commands/check.ts';
import { firstCurl, makeOneRunKey, takesKeys } from '../../../src/contract-first/operate/process/one-run-key.ts';
import { makeKey, toStoredKey } from '../../../src/contract-first/store/api-keys.ts';
import { load } from '../../added-operations.ts';
import { loadConfig } from '../../config.ts';
import { openUrl } from '../../database.ts';
import { type Edit, edited } from '../../edited-contract.ts';
import { finished, KEY, startService } from '../../service.ts';

/** All operations take the key of this scheme. */
const withScheme =
  (scheme: object): Edit =>
  ({ securitySchemes, components, listPets, createPet, getPet }) => {
    delete securitySchemes.bearerAuth;
    securitySchemes.only = scheme;
    components.headers['WWW-Authenticate'].schema = { type: 'string' };
    for (const operation of [listPets, createPet, getPet]) operation.security = [{ only: [] }];
  };

t.test("the printed request carries the key at the contract's location", async (t) => {
  const cases: [edit: Edit, toLine: (origin: string) => string][] = [
    [() => {}, (origin) => `curl -H 'Authorization: Bearer ${KEY}' '${origin}/v1/pets'`],
    [
      withScheme({ type: 'apiKey', in: 'header', name: 'X-Key' }),
      (origin) => `curl -H 'X-Key: ${KEY}' '${origin}/v1/pets'`,
    ],
    [withScheme({ type: 'apiKey', in: 'query', name: 'a&b' }), (origin) => `curl '${origin}/v1/pets?a%26b=${KEY}'`],
    [withScheme({ type: 'http', scheme: 'basic' }), (origin) => `curl -u :${KEY} '${origin}/v1/pets'`],
    [withScheme({ type: 'apiKey', in: 'cookie', name: 'key' }), (origin) => `curl -b 'key=${KEY}' '${origin}/v1/pets'`],
    [
      withScheme({ type: 'apiKey', in: 'header', name: "X-'|exit|'" }),
      (origin) => `curl -H 'X-'\\''|exit|'\\'': ${KEY}' '${origin}/v1/pets'`,
    ],
    [({ listPets }) => (listPets.security = []), (origin) => `curl '${origin}/v1/pets'`],
  ];
  for (const [edit, toLine] of cases) {
    const yaml = edited(edit);
    const contract = await load(t, yaml);
    const { port } = await startService(t, { contract, yaml });
    const origin = `http://127.0.0.1:${port}`;
    const line = firstCurl(KEY, origin, finished(contract));
    t.equal(line, toLine(origin));
    const { stdout } = await promisify(execFile)('sh', ['-c', `${line} --silent --show-error`]);
    t.equal(stdout, '[]', line);
  }
});

t.test('if each operation needs more than a key, the printed request uses the first scheme', async (t) => {
  const contract = await load(
    t,
    edited(({ limit }) => (limit.required = true)),
  );
  t.equal(firstCurl(KEY, 'http://a', finished(contract)), `curl -H 'Authorization: Bearer ${KEY}' 'http://a/v1'`);
});

t.test('production makes no key, and the error names the command that does', async (t) => {
  const store = openUrl('sqlite::memory:');
  t.teardown(() => store.close());
  const logger = pino({ level: 'silent' });
  await t.rejects(makeOneRunKey({ ...loadConfig({ NODE_ENV: 'production' }), name: 'petstore' }, store, logger), {
    name: 'ConfigError',
    message:
      /^No API key is configured\. Make one with `node dist\/src\/main\.js keys create <name>`, or set API_KEYS,/,
  });
});

t.test('with third-party tokens only, no key is made or missed, also in production', async (t) => {
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

t.test('no key is made if a stored one is valid', async (t) => {
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

t.test('no key is made if all were revoked or have expired: the service starts, and answers 401', async (t) => {
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
