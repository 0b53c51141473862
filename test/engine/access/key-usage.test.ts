import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { hashKey, makeKey, toStoredKey } from '../../../src/contract-first/store/api-keys.ts';
import { openUrl } from '../../database.ts';
import { KEY, startService } from '../../service.ts';

t.test('the store records the time of the request that used an API key, not the time of the write', async (t) => {
  const store = openUrl('sqlite::memory:');
  const [ada, ben] = [makeKey('petstore'), makeKey('petstore')];
  const keys = [toStoredKey(ada, 'Ada'), toStoredKey(ben, 'Ben'), toStoredKey(makeKey('petstore'), 'Cleo')];
  for (const key of keys) await store.createKey(key);
  const [adas, bens] = keys.map(({ id }) => id) as [string, string];
  const { app, request } = await startService(t, { store });
  const before = new Date().toISOString();
  for (const url of ['/v1/pets/1', '/v1/pets/x', '/v1/pets']) await request(url, { key: ada });
  await request('/v1/pets', { key: ben });
  await request('/v1/pets/1', { key: KEY });
  await request('/v1/pets/1', { key: 'unknown' });
  // The server writes the uses only when it stops. Until then, time passes, which must not change the times of the
  // uses.
  const after = new Date().toISOString();
  while (new Date().toISOString() === after) await nextTurn();
  await app.close();
  const uses = await store.listUses();
  const configured = uses.find(({ keyId }) => /^API_KEYS\.[0-9a-f]{8}$/.test(keyId))?.keyId as string;
  t.not(configured.slice(-8), hashKey(KEY).slice(0, 8));
  t.strictSame(uses.map(({ keyId }) => keyId).sort(), [configured, adas, bens].sort());
  t.ok(uses.every(({ usedAt }) => usedAt >= before && usedAt <= after));
});

t.test(
  'if the store cannot record the use of an API key, the log reports this, and the request is still answered',
  async (t) => {
    const store = openUrl('sqlite::memory:');
    const addUses = () => Promise.reject(new Error('no disk'));
    const lines: string[] = [];
    const log = { write: (line: string) => lines.push(line) };
    const { app, request } = await startService(t, { store: { ...store, addUses }, log });
    await request('/v1/pets');
    await app.close();
    t.match(JSON.parse(lines.at(-1) as string), { level: 40, msg: 'the uses of keys could not be written' });
  },
);
