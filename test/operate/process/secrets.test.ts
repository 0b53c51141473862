/** Searches everything that a server writes for keys. */
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { hashKey } from '../../../src/contract-first/store/api-keys.ts';
import { openUrl } from '../../database.ts';
import { startProgram, startServer } from '../../program.ts';
import { sendRaw } from '../../raw-client.ts';
import { toMade } from '../commands/made-keys.ts';

const PLANTED = 'Planted/key+with~delimiters-0123456789==';

/** The umask of a usual shell, with which new files are readable for everybody. */
const shell = 'umask 022';

const encoded = (text: string) => text.replace(/./g, (c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`);

const SPELLINGS: ((key: string) => string)[] = [
  (key) => key,
  encodeURIComponent,
  encoded,
  (key) => encoded(encoded(key)),
];

/** Requests that contain a key at every position where none is expected. */
const requestsWith = (key: string) =>
  [
    ...['?api_key=', '#api_key=', '&key=', ';', '?a=1&b=', '/', '/1?', '?x=%ff'].map(
      (before) => `GET /v1/pets${before}${key}`,
    ),
    ...[`GET /${key}`, `GET //user:${key}@pets/`, `GET http://${key}@pets/v1/pets`, `DELETE /v1/pets?k=${key}`],
    ...[`CONNECT ${key}:443`, `CONNECT /?k=${key}`, `GET /%zz/${key}`, `${key} /v1/pets`, `GET /livez?${key}`],
  ].map((line) => `${line} HTTP/1.1\r\nHost: pets\r\nConnection: close\r\n\r\n`);

async function run(t: Test, name: string, args: string[], env: Record<string, string>): Promise<string> {
  const { output, exit } = startProgram(t, 'src/main.ts', { args: [name, ...args], env, shell });
  t.equal(await exit, 0, output.stderr);
  return output.stdout + output.stderr;
}

t.test('no output, reply or trace of a server contains an API key; other users cannot read its files', async (t) => {
  const folder = t.testdir({ old: {} });
  const DATABASE_URL = `sqlite:${folder}/data/of/pets.db`;
  const { key } = toMade(await run(t, 'keys', ['create', 'Ada'], { DATABASE_URL }));
  const spans: string[] = [];
  const collector = createServer(async (request, reply) => {
    spans.push(await text(request));
    reply.setHeader('content-type', 'application/json').end('{}');
  });
  await once(collector.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => collector.close());
  const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const env = { DATABASE_URL, API_KEYS: PLANTED, LOG_LEVEL: 'trace', OTEL_EXPORTER_OTLP_ENDPOINT };
  const server = await startServer(t, { env, shell });
  const replies: unknown[] = [];
  for (const secret of [PLANTED, key]) {
    for (const spell of SPELLINGS) {
      for (const text of requestsWith(spell(secret))) replies.push(await sendRaw(server.port, text));
    }
    replies.push(await server.request('/v1/pets', { key: secret }));
    replies.push(await server.request('/v1/pets', { key: `${secret}0` }));
    replies.push(await server.request('/v1/pets', { key: null, headers: { authorization: `Basic ${secret}` } }));
  }
  const modeOf = (path: string) => (statSync(`${folder}/${path}`).mode & 0o777).toString(8);
  const stored = ['pets.db', 'pets.db-shm', 'pets.db-wal'];
  t.strictSame(readdirSync(`${folder}/data/of`), stored);
  t.strictSame(
    stored.map((name) => modeOf(`data/of/${name}`)),
    ['600', '600', '600'],
  );
  t.strictSame([modeOf('data'), modeOf('data/of')], ['700', '700']);
  server.child.kill('SIGTERM');
  t.equal(await server.exit, 0);
  const copied = await run(t, 'backup', [`${folder}/copy.db`], { DATABASE_URL });
  const moved = await run(t, 'move', [DATABASE_URL, `${folder}/moved.db`], env);
  t.strictSame([modeOf('copy.db'), modeOf('moved.db')], ['600', '600']);

  const listed = await run(t, 'keys', ['list'], env);
  const written = [server.output, copied, moved, listed, replies, spans].map((part) => JSON.stringify(part)).join('\n');
  t.match(written, '"status":200');
  t.match(written, 'listening');
  t.match(written, 'url.path');
  const ends = [PLANTED, key].map((secret) => secret.slice(-20));
  const secrets = ends.flatMap((end) => [...SPELLINGS.map((spell) => spell(end)), encoded(end).toUpperCase()]);
  for (const secret of [...secrets, hashKey(PLANTED).slice(0, 8), hashKey(key).slice(0, 8)])
    t.notMatch(written, secret);
});

t.test('the server does not change the permissions of existing folders and files', async (t) => {
  const folder = t.testdir();
  chmodSync(folder, 0o755);
  mkdirSync(`${folder}/own`, { mode: 0o750 });
  const DATABASE_URL = `sqlite:${folder}/own/pets.db`;
  await openUrl(DATABASE_URL).close();
  chmodSync(`${folder}/own/pets.db`, 0o640);
  await openUrl(DATABASE_URL).close();
  const modes = ['', '/own', '/own/pets.db'].map((path) => (statSync(folder + path).mode & 0o777).toString(8));
  t.strictSame(modes, ['755', '750', '640']);
});

t.test('`backup` fails instead of writing through a symbolic link', async (t) => {
  const folder = t.testdir({ victim: 'untouched' });
  const DATABASE_URL = `sqlite:${folder}/pets.db`;
  await openUrl(DATABASE_URL).close();
  symlinkSync(`${folder}/victim`, `${folder}/link`);
  const through = `cp -P ${folder}/link ${folder}/out.$$.part`;
  const options = { args: ['backup', `${folder}/out`], env: { DATABASE_URL }, shell: through };
  const { exit, output } = startProgram(t, 'src/main.ts', options);
  t.strictSame([await exit, /^EEXIST: file already exists/.test(output.stderr)], [1, true], output.stderr);
  t.equal(statSync(`${folder}/victim`).size, 'untouched'.length);
  t.equal(readdirSync(folder).filter((name) => name.endsWith('.part')).length, 1);
});
