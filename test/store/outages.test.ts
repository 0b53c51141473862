import { renameSync } from 'node:fs';
import t from 'tap';
import { startService } from '../service.ts';
import { CREATE, idsIn, isUnavailable, prepareFile } from './file-outage.ts';

t.test('while another program locks the database, POST gets 503 and GET works; afterwards, both work', async (t) => {
  const { databaseUrl, connect } = prepareFile(t);
  const { request } = await startService(t, { databaseUrl });
  t.equal((await request('/v1/pets', CREATE)).status, 201);
  const other = connect();
  other.exec('BEGIN EXCLUSIVE');
  const refused = request('/v1/pets', CREATE);
  t.equal((await request('/v1/pets/1')).status, 200);
  isUnavailable(t, await refused);
  t.strictSame(await idsIn(request), [1]);
  other.exec('ROLLBACK');
  t.equal((await request('/v1/pets', CREATE)).status, 201);
  t.strictSame(await idsIn(request), [1, 2]);
});

t.test('while the database file is moved away, POST gets 503, and the server is not ready', async (t) => {
  const { file, databaseUrl } = prepareFile(t);
  const { request } = await startService(t, { databaseUrl });
  t.equal((await request('/v1/pets', CREATE)).status, 201);
  renameSync(file, `${file}.moved`);
  isUnavailable(t, await request('/v1/pets', CREATE));
  isUnavailable(t, await request('/readyz'));
  t.equal((await request('/livez')).status, 200);
  t.strictSame(await idsIn(request), [1]);
  renameSync(`${file}.moved`, file);
  t.equal((await request('/readyz')).status, 200);
  t.equal((await request('/v1/pets', CREATE)).status, 201);
  t.strictSame(await idsIn(request), [1, 2]);
});
