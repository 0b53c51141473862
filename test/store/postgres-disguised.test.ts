/**
 * A proxy makes PostgreSQL look like a pooler: another process than the announced one answers.
 * `postgres-pooler.deep.ts` tests a real pooler.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import t, { type Test } from 'tap';
import { openPostgresUrl, startPostgres } from '../postgres.ts';

const server = await startPostgres(t);

/** The BackendKeyData message, in which the process id of the server follows (PostgreSQL, "Message Formats"). */
const KEY_DATA = Buffer.from('K\0\0\0\f', 'latin1');

/** Starts a proxy that changes the announced process id. Returns its port. */
async function startDisguise(t: Test): Promise<number> {
  const proxy = createServer((client) => {
    const upstream = connect(server.port, '127.0.0.1');
    client.on('error', () => {}).on('close', () => upstream.destroy());
    upstream.on('error', () => {}).on('close', () => client.destroy());
    client.on('data', (bytes) => upstream.write(bytes));
    upstream.on('data', (bytes: Buffer) => {
      const at = bytes.indexOf(KEY_DATA);
      if (at !== -1) bytes.writeInt32BE(bytes.readInt32BE(at + KEY_DATA.length) + 1_000_000, at + KEY_DATA.length);
      client.write(bytes);
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.teardown(() => proxy.close());
  return (proxy.address() as AddressInfo).port;
}

t.test(
  'if the connection may lead to a pooler, the start fails and prints the settings that the database role needs',
  async (t) => {
    const port = await startDisguise(t);
    const url = server.newUrl();
    const open = async () => {
      const store = await openPostgresUrl(url.replace(`:${server.port}/`, `:${port}/`));
      t.teardown(() => store.close());
      return store;
    };
    await server.execute("ALTER ROLE petstore SET statement_timeout = '20s'");
    await server.execute("ALTER ROLE petstore SET extra_float_digits = '0'");
    const remedy = "ALTER ROLE petstore SET extra_float_digits = '1'";
    const refusal = await open().then(
      () => '',
      (error: Error) => error.message,
    );
    t.match(refusal, `behind a pooler, its role needs other settings: ${remedy}`);
    await server.execute(remedy);
    const { records } = await open();
    const { id } = await records.create({ name: 'Rex', categoryId: 7n });
    t.match((await records.get(id))?.read(), { name: 'Rex' });
  },
);
