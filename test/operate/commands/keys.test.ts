import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import t, { type Test } from 'tap';
import { toKeyCommands } from '../../../src/contract-first/operate/commands/keys.ts';
import { hashKey } from '../../../src/contract-first/store/api-keys.ts';
import { Sqlite } from '../../../src/contract-first/store/sqlite/sqlite.ts';
import type { Store } from '../../../src/contract-first/store/store.ts';
import { service } from '../../../src/generated/service.ts';
import { openUrl } from '../../database.ts';
import { prepareFaultyDisk } from '../../faulty-disk.ts';
import { startProgram } from '../../program.ts';
import { runKeys, toMade } from './made-keys.ts';

const USAGE =
  /^Usage: node dist\/src\/main\.js keys create <name> .*\n.*\n\n.*the scopes are pets:read, pets:write\.\n/;
const DATE = /^--(?:expires|keep) must be a number of days or a future date, such as 30 or 2030-12-05, not /;
function openMemory(t: Test): Store {
  const store = openUrl('sqlite::memory:');
  t.teardown(() => store.close());
  return store;
}

const run = (store: Store, ...args: string[]) => runKeys(store, service, args);

t.test('`keys create` prints the API key, and stores only its hash', async (t) => {
  const store = openMemory(t);
  const { id, name, expiresAt, key } = toMade(await run(store, 'create', "Ada's laptop"));
  t.equal(name, "Ada's laptop");
  t.equal(expiresAt, undefined);
  const keys = await store.listKeys();
  t.match(keys, [{ id, name, hash: hashKey(key), expiresAt: undefined, revokedAt: undefined }]);
  t.notMatch(JSON.stringify(keys), key.replace('petstore_', ''));
  t.not(toMade(await run(store, 'create', 'Ben')).key, key);
});

t.test('`keys create --expires` accepts a future date or a number of days', async (t) => {
  const store = openMemory(t);
  for (const [text, expiry] of [
    ['2130-12-05', '2130-12-05T00:00:00.000Z'],
    ['2130-12-05T08:30+01:00', '2130-12-05T07:30:00.000Z'],
  ] as const) {
    t.equal(toMade(await run(store, 'create', 'x', '--expires', text)).expiresAt, expiry);
    t.equal((await store.listKeys()).at(-1)?.expiresAt, expiry);
  }
  for (const text of ['30', '30d']) {
    const before = Date.now();
    const expiresAt = Date.parse(toMade(await run(store, 'create', 'x', `--expires=${text}`)).expiresAt as string);
    t.ok(expiresAt >= before + 30 * 86_400_000 && expiresAt <= Date.now() + 30 * 86_400_000);
  }
});

t.test('`keys create --expires` rejects an invalid date, a past date and a date after the year 9999', async (t) => {
  const store = openMemory(t);
  for (const text of [
    '0',
    '2020-01-01',
    '05.12.2130',
    'never',
    '',
    '9'.repeat(20),
    '9999999',
    '2130-13-05',
    'year 2130',
    '2130-02-30',
    '2130-02-29',
    '2130-04-31T10:00',
  ]) {
    await t.rejects(run(store, 'create', 'x', '--expires', text), { message: DATE }, text);
    // For `--keep`, 0 is valid: a leaked key can end immediately.
    if (text !== '0') await t.rejects(run(store, 'rotate', 'x', '--keep', text), { message: DATE }, text);
  }
});

t.test('`keys list` prints ids, names and dates of all API keys, the oldest first, but not the keys', async (t) => {
  const store = openMemory(t);
  t.equal(await run(store, 'list'), 'There are no keys.');
  const hashes = ['a', 'b', 'c'].map((letter) => letter.repeat(64));
  const createdAt = (day: number) => `2026-01-0${day}T00:00:00.000Z`;
  const [a, b, c] = hashes as [string, string, string];
  await store.createKey({ id: 'aaaa', name: 'Ada', hash: a, createdAt: createdAt(1) });
  await store.createKey({
    id: 'bbbb',
    name: 'Ben',
    hash: b,
    createdAt: createdAt(2),
    expiresAt: createdAt(3),
    scopes: ['pets:read'],
    rate: '100/s',
  });
  await store.createKey({ id: 'cccc', name: 'Cleo of the stables', hash: c, createdAt: createdAt(4) });
  await store.revokeKey('cccc', createdAt(5));
  const usedAt = createdAt(6);
  await store.addUses([{ keyId: 'aaaa', usedAt }]);
  t.equal(
    await run(store, 'list'),
    `id    state                             created                   expires                   last used                 scopes     rate     name
aaaa  valid                             2026-01-01T00:00:00.000Z  never                     2026-01-06T00:00:00.000Z  all        default  Ada
bbbb  expired                           2026-01-02T00:00:00.000Z  2026-01-03T00:00:00.000Z  never                     pets:read  100/s    Ben
cccc  revoked 2026-01-05T00:00:00.000Z  2026-01-04T00:00:00.000Z  never                     never                     all        default  Cleo of the stables`,
  );
});

t.test('with --json, `keys create` and `keys list` print JSON', async (t) => {
  const store = openMemory(t);
  t.equal(await run(store, 'list', '--json'), '[]');
  const made = JSON.parse(await run(store, 'create', 'Ada', '--json', '--rate', '5/s', '--scopes', 'pets:read'));
  const { key, ...shown } = made;
  t.match(shown, { id: /^[0-9a-f]{8}$/, name: 'Ada', expiresAt: null, scopes: ['pets:read'], rate: '5/s' });
  t.match(await store.listKeys(), [{ id: made.id, hash: hashKey(key) }]);
  const usedAt = '2026-01-06T00:00:00.000Z';
  await store.addUses([{ keyId: made.id, usedAt }]);
  await run(store, 'create', 'Ben', '--expires', '2130-12-05');
  const [ada, ben] = JSON.parse(await run(store, 'list', '--json'));
  t.strictSame(ada, { ...shown, lastUsedAt: usedAt });
  t.match(ben, { expiresAt: '2130-12-05T00:00:00.000Z', revokedAt: null, scopes: null, rate: null, lastUsedAt: null });
});

t.test('`keys revoke` revokes a key; for an unknown or already revoked key, it fails', async (t) => {
  const store = openMemory(t);
  const { id } = toMade(await run(store, 'create', 'Ada'));
  t.equal(await run(store, 'revoke', id), `Key ${id} is revoked: running servers refuse it within a second.`);
  for (const other of [id, 'unknown']) {
    await t.rejects(run(store, 'revoke', other), { message: `There is no valid key ${other}.` });
  }
});

t.test('`keys create --scopes` limits a key to scopes of the contract, and rejects a misspelt scope', async (t) => {
  const store = openMemory(t);
  t.equal(toMade(await run(store, 'create', 'Ada')).scopes, 'everything');
  t.equal(toMade(await run(store, 'create', 'Ben', '--scopes', 'pets:read')).scopes, 'pets:read');
  const both = ['create', 'Cleo', '--scopes', 'pets:write,pets:read,pets:write'];
  t.equal(toMade(await run(store, ...both)).scopes, 'pets:write and pets:read');
  const scopes = (await store.listKeys()).map((key) => key.scopes);
  t.strictSame(scopes, [undefined, ['pets:read'], ['pets:write', 'pets:read']]);
  for (const [text, unknown] of [
    ['pets:raed', 'pets:raed'],
    ['pets:read,admin,all', 'admin, all'],
    ['', ''],
  ] as const) {
    const message = `--scopes must be of pets:read, pets:write, not ${unknown}`;
    await t.rejects(run(store, 'create', 'x', '--scopes', text), { message }, text);
  }
});

t.test('`keys create --rate` limits a key to a rate, and `keys rotate` keeps the rate', async (t) => {
  const store = openMemory(t);
  const { id, scopes } = toMade(await run(store, 'create', 'Ada', '--rate', '100/s'));
  t.equal(scopes, 'everything, at the rate 100/s');
  await run(store, 'rotate', id);
  await run(store, 'create', 'Ben', '--rate', 'none');
  t.strictSame(
    (await store.listKeys()).map(({ rate }) => rate),
    ['100/s', '100/s', 'none'],
  );
  const message = 'A rate is a number of requests per s, m, h or d, such as 100/s, or none, not 100';
  await t.rejects(run(store, 'create', 'x', '--rate', '100'), { message });
});

t.test('`keys rotate` creates a key with the same name and scopes, and lets the old key expire', async (t) => {
  const store = openMemory(t);
  const { id } = toMade(await run(store, 'create', 'Ada', '--scopes', 'pets:read'));
  const text = await run(store, 'rotate', id, '--keep', '2130-12-05', '--expires', '2140-01-01');
  const made = toMade(text);
  t.match(made, { name: 'Ada', scopes: 'pets:read', expiresAt: '2140-01-01T00:00:00.000Z' });
  t.ok(text.endsWith(`\n\nKey ${id} is valid until 2130-12-05T00:00:00.000Z at most.`));
  const [old, next] = (await store.listKeys()).sort((a) => (a.id === id ? -1 : 1));
  t.match(old, { id, expiresAt: '2130-12-05T00:00:00.000Z' });
  t.match(next, { id: made.id, hash: hashKey(made.key), scopes: ['pets:read'] });

  const before = Date.now();
  await run(store, 'rotate', made.id);
  const expiry = Date.parse((await store.listKeys()).find((key) => key.id === made.id)?.expiresAt as string);
  t.ok(expiry >= before + 7 * 86_400_000 && expiry <= Date.now() + 7 * 86_400_000);

  const leaked = toMade(await run(store, 'create', 'Ben'));
  t.match(
    await run(store, 'rotate', leaked.id, '--keep', '0'),
    `\n\nKey ${leaked.id} has ended: running servers refuse it within a second.`,
  );
  const ended = (await store.listKeys()).find((key) => key.id === leaked.id)?.expiresAt as string;
  t.ok(Date.parse(ended) <= Date.now());

  await store.revokeKey(id, new Date().toISOString());
  for (const other of [id, 'unknown']) {
    await t.rejects(run(store, 'rotate', other), { message: `There is no valid key ${other}.` });
  }
});

t.test('`keys rotate` gives the new key the expiry of the old one, and prints the expiry', async (t) => {
  const store = openMemory(t);
  const { id } = toMade(await run(store, 'create', 'Ada', '--expires', '2130-12-05'));
  t.equal(toMade(await run(store, 'rotate', id)).expiresAt, '2130-12-05T00:00:00.000Z');
});

t.test('`keys create` rejects a name with more than 100 characters or with control characters', async (t) => {
  const store = openMemory(t);
  t.equal(toMade(await run(store, 'create', '  Zoë\u00a0🔑 ')).name, 'Zoë\u00a0🔑');
  t.equal(toMade(await run(store, 'create', '🔑'.repeat(100))).name, '🔑'.repeat(100));
  for (const name of [' ', '🔑'.repeat(101), '\x1b[2J', 'a\nb', 'a\u202eb', 'a\u2028b', '\ud800']) {
    await t.rejects(run(store, 'create', name), { message: /^A name has 1 to 100 characters, / });
  }
});

t.test('`keys list` and `keys rotate` print control characters in the name of a key as codes', async (t) => {
  const store = openMemory(t);
  const createdAt = '2026-01-01T00:00:00.000Z';
  await store.createKey({ id: 'aaaa', name: 'A\x1b[2J\nbbbb', hash: 'a'.repeat(64), createdAt });
  for (const args of [['list'], ['rotate', 'aaaa']]) {
    const text = await run(store, ...args);
    t.match(text, 'A\\u{1b}[2J\\u{a}bbbb', args.join(' '));
  }
});

t.test('a `keys` command with missing or unknown arguments fails and prints the usage', async (t) => {
  const store = openMemory(t);
  for (const args of [
    [],
    ['make', 'Ada'],
    ['create'],
    ['create', ''],
    ['create', 'Ada', 'Lovelace'],
    ['list', 'Ada'],
    ['list', '--expires', '30'],
    ['revoke'],
    ['revoke', 'id', '--expires', '30'],
    ['create', 'Ada', '--expires'],
    ['create', 'Ada', '--keep', '7'],
    ['rotate'],
    ['rotate', 'id', '--scopes', 'pets:read'],
    ['list', '--scopes', 'pets:read'],
    ['rotate', 'id', '--rate', '1/s'],
    ['list', '--deprecated'],
    ['--all'],
  ]) {
    t.equal(await run(store, ...args), 'exit code 2', args.join(' '));
  }
});

t.test(
  'a `keys` command that fails prints to standard error, exits with 1 (2 for wrong usage) and creates no database',
  async (t) => {
    const DATABASE_URL = `sqlite:${t.testdir()}/data/pets.db`;
    for (const [args, env, reported] of [
      [['create'], { DATABASE_URL }, USAGE],
      [
        ['list'],
        { DATABASE_URL: 'sqlite::memory:' },
        /^DATABASE_URL is in memory, which no other program can see\.\n$/,
      ],
      [
        ['list'],
        { DATABASE_URL },
        /^There is no database \/.*\/data\/pets\.db\. Go to the folder of the service, or set DATABASE_URL\.\n$/,
      ],
      [['create', ' '], { DATABASE_URL }, /^A name has 1 to 100 characters/],
      [
        ['list'],
        { DATABASE_URL, MAX_CREATE: '2' },
        /^Warning: MAX_CREATE is not known: is MAX_CREATES meant\?\nThere is no database/,
      ],
      [['revoke', 'aaaa'], { DATABASE_URL }, /^There is no database \/.*\/data\/pets\.db\. /],
      [['list'], { DATABASE_URL, PORT: 'http' }, /^Wrong configuration:\n {2}- PORT /],
    ] as const) {
      const { exit, output } = startProgram(t, 'src/main.ts', { args: ['keys', ...args], env, isCovered: true });
      t.equal(await exit, reported === USAGE ? 2 : 1);
      t.equal(output.stdout, '');
      t.match(output.stderr, reported);
    }
    t.notOk(existsSync(dirname(DATABASE_URL.replace('sqlite:', ''))));
  },
);

t.test('if `keys create` cannot print the new key, the error says that the key was created', async (t) => {
  const env = { DATABASE_URL: `sqlite:${t.testdir()}/pets.db` };
  const options = { args: ['keys', 'create', 'Ada'], env, shell: 'exec > /dev/full', isCovered: true };
  const { exit, output } = startProgram(t, 'src/main.ts', options);
  t.equal(await exit, 1);
  t.match(output.stderr, /^The answer cannot be written: ENOSPC.* What was asked is done: see `list`\.$/m);
  t.notMatch(output.stderr, / at /);
});

t.test(
  'if the disk fails or the database is locked, the error of a `keys` command says whether keys may have changed',
  async (t) => {
    const disk = prepareFaultyDisk(t);
    const { DATABASE_URL } = disk.env as { DATABASE_URL: string };
    const run = async (...args: string[]) => {
      const { exit, output } = startProgram(t, 'src/main.ts', {
        args: ['keys', ...args],
        env: disk.env,
        isCovered: true,
      });
      await exit;
      return output;
    };
    const { id } = toMade((await run('create', 'Ada')).stdout);
    t.equal((await run('revoke', 'ffffffff')).stderr, 'There is no valid key ffffffff.\n');
    const unknown = 'The change may have been made or not: see `list`, and try again.\n';
    disk.fail();
    for (const args of [
      ['create', 'Ben'],
      ['revoke', id],
    ]) {
      t.strictSame(await run(...args), {
        stdout: '',
        stderr: `The database cannot be used now: disk I/O error. ${unknown}`,
      });
    }
    disk.mend();
    t.match((await run('list')).stdout, new RegExp(`${id}  valid .* Ada`));

    const other = new Sqlite(DATABASE_URL.replace('sqlite:', ''));
    t.teardown(() => other.close());
    other.exec('BEGIN EXCLUSIVE');
    t.equal(
      (await run('revoke', id)).stderr,
      'The database cannot be used now: database is locked. Nothing was changed.\n',
    );
  },
);

t.test('the usage of `keys create` mentions scopes only if the service has scopes', (t) => {
  const detailsFor = (...scopes: string[]) =>
    toKeyCommands({ name: 'books', scopes }, async () => {})['keys create']?.details;
  t.notMatch(detailsFor(), /the scopes are/);
  t.match(detailsFor('books:read'), /the scopes are books:read\./);
  t.end();
});
