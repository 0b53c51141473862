import t from 'tap';
import { makeKey, toStoredKey } from '../../../src/contract-first/store/api-keys.ts';
import { operation, serve, withPaths } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { openUrl } from '../../database.ts';
import { KEY } from '../../service.ts';

const YAML = withPaths({
  '/whoami': { get: operation('whoAmI') },
  '/anyone': { get: operation('anyone', { security: [] }) },
});

/** Opens a store with an API key named Ada. */
async function openWithKey() {
  const store = openUrl('sqlite::memory:');
  const key = makeKey('petstore');
  const stored = toStoredKey(key, 'Ada');
  await store.createKey(stored);
  return { store, key, id: stored.id };
}

t.test('a handler gets the caller, the request id, and a logger that adds the request id to each line', async (t) => {
  const { store, key, id } = await openWithKey();
  const lines: string[] = [];
  const tell = ({ caller: key = null, requestId, log }: Json) => {
    log.warn({ owner: key?.id }, 'was asked');
    return { status: 200, body: { key: key && [key.id, key.name], requestId } };
  };
  const log = { write: (line: string) => lines.push(line) };
  const { request } = await serve(t, YAML, { whoAmI: tell, anyone: tell }, { store, log });

  const adas = await request('/v1/whoami', { key });
  const requestId = adas.headers['x-request-id'];
  t.strictSame(adas.body, { key: [id, 'Ada'], requestId });
  const line = JSON.parse(lines.find((text) => text.includes('was asked')) as string);
  t.match(line, { level: 40, reqId: requestId, owner: id });

  const { body } = await request('/v1/whoami', { headers: { authorization: `bearer  ${KEY}` } });
  t.match(body, { key: [/^API_KEYS\.[0-9a-f]{8}$/, 'API_KEYS'] });
  t.match((await request('/v1/anyone', { key: null })).body, { key: null });
  t.notMatch(lines.join(), KEY);
});
