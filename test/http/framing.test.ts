import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { listPets } from '../database.ts';
import { connectRaw, sendRaw } from '../raw-client.ts';
import { KEY, startService } from '../service.ts';

const PET = '{"name":"Rex","categoryId":1}';
const CHUNKED_PET = `${PET.length.toString(16)}\r\n${PET}\r\n0\r\n\r\n`;
const AUTHORIZED = `Authorization: Bearer ${KEY}`;
const GET = `GET /v1/pets HTTP/1.1\r\nHost: pets\r\n${AUTHORIZED}\r\n\r\n`;

t.test('HTTP/1.0 with Transfer-Encoding is 400, and nothing behind it is served (RFC 9112, section 6.1)', async (t) => {
  const { port, store } = await startService(t);
  for (const connection of ['keep-alive', 'close']) {
    const head = ['POST /v1/pets HTTP/1.0', AUTHORIZED, 'Content-Type: application/json', `Connection: ${connection}`];
    const bytes = `${[...head, 'Transfer-Encoding: chunked', '', ''].join('\r\n')}${CHUNKED_PET}${GET}`;
    t.match(await sendRaw(port, bytes), [{ status: 400, headers: { connection: 'close' } }]);
  }
  t.equal((await listPets(store, { limit: 10 })).body.text, '[]');
});

t.test('a header that counts once and comes twice is 400: another server may go by the other one', async (t) => {
  const { port } = await startService(t);
  for (const twice of [
    ['Host: pets', 'Host: pets'],
    ['Host: pets', 'host: others'],
    ['Host: pets', AUTHORIZED, AUTHORIZED],
    ['Host: pets', AUTHORIZED, 'AUTHORIZATION: Bearer wrong'],
    ['Host: pets', AUTHORIZED, 'Content-Type: application/json', 'Content-Type: text/plain'],
  ]) {
    const bytes = ['GET /v1/pets HTTP/1.1', ...twice, 'Connection: close', '', ''].join('\r\n');
    const [reply] = await sendRaw(port, bytes);
    t.equal(reply?.status, 400, twice.join(', '));
    t.match(JSON.parse(reply?.text as string), { code: 'malformed_request' });
  }
});

t.test('a client that closes its sending side gets the answers to all that it has sent', async (t) => {
  const { port } = await startService(t);
  const head = `POST /v1/pets HTTP/1.1\r\nHost: pets\r\n${AUTHORIZED}\r\nContent-Type: application/json\r\n`;
  const create = `${head}Content-Length: ${PET.length}\r\n\r\n${PET}`;
  for (const [sent, statuses] of [
    [create, [201]],
    [create + GET + create, [201, 200, 201]],
    [GET, [200]],
    ['', []],
  ] as [string, number[]][]) {
    const client = connectRaw(port, sent);
    client.socket.end();
    t.strictSame(
      (await client.replies()).map(({ status }) => status),
      statuses,
    );
    await client.closed;
  }
  // And one that closes it later, when the server has nothing left to say.
  const late = connectRaw(port, GET);
  await late.replies(1);
  await wait(50);
  late.socket.end();
  await late.closed;
});
