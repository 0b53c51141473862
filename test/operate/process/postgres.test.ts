import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { schemaOf, startPostgres } from '../../postgres.ts';
import { startProgram, startServer } from '../../program.ts';
import type { ReceivedReply, RequestOptions, SendRequest } from '../../service.ts';

const postgres = await startPostgres(t);
const CREATE = { method: 'POST', body: { name: 'Rex', categoryId: 7 } };

/** Repeats a request until the reply has this status. */
async function untilStatus(
  request: SendRequest,
  url: string,
  options: RequestOptions,
  status: number,
): Promise<ReceivedReply> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const reply = await request(url, options);
    if (reply.status === status || Date.now() > deadline) return reply;
    await wait(50);
  }
}

t.test(
  'two servers on one PostgreSQL share pets and keys, survive its restart, and never print its password',
  async (t) => {
    const env = { DATABASE_URL: postgres.newUrl() };
    const servers = await Promise.all([startServer(t, { env, isCovered: true }), startServer(t, { env })]);
    const [one, other] = servers.map(({ request }) => request) as [SendRequest, SendRequest];

    // The Idempotency-Key makes it safe to repeat the create if the machine pauses.
    const first = { ...CREATE, headers: { 'idempotency-key': 'first' } };
    const { headers, text } = await untilStatus(one, '/v1/pets', first, 201);
    t.equal((await untilStatus(other, headers.location as string, {}, 200)).text, text);
    t.equal((await untilStatus(other, '/v1/pets', {}, 200)).text, `[${text}]`);

    const making = startProgram(t, 'src/main.ts', { args: ['keys', 'create', 'Ada'], env });
    t.equal(await making.exit, 0, making.output.stderr);
    const [key] = /petstore_\w+/.exec(making.output.stdout) as RegExpExecArray;
    const [, id] = /^Key (\w+)/.exec(making.output.stdout) as RegExpExecArray;
    for (const request of [one, other]) t.equal((await untilStatus(request, '/v1/pets', { key }, 200)).status, 200);

    await postgres.stop();
    for (const request of [one, other]) {
      t.equal((await untilStatus(request, '/readyz', {}, 503)).status, 503);
      const { status, headers, body } = await request('/v1/pets', { key });
      t.equal(status, 503);
      t.equal(headers['retry-after'], '1');
      t.match(body, { code: 'unavailable' });
      t.equal((await request('/livez')).status, 200);
    }
    await postgres.start();
    for (const request of [one, other]) {
      t.equal((await untilStatus(request, '/readyz', {}, 200)).status, 200);
      t.equal((await untilStatus(request, headers.location as string, { key }, 200)).text, text);
      t.equal((await untilStatus(request, '/v1/pets', CREATE, 201)).status, 201);
    }

    const revoking = startProgram(t, 'src/main.ts', { args: ['keys', 'revoke', id as string], env });
    t.equal(await revoking.exit, 0, revoking.output.stderr);
    for (const request of [one, other]) t.equal((await untilStatus(request, '/v1/pets', { key }, 401)).status, 401);

    for (const { child, exit, output } of servers) {
      child.kill('SIGTERM');
      t.equal(await exit, 0);
      t.notMatch(output.stdout + output.stderr, postgres.password);
    }
  },
);

t.test('a start that fails because of missing API keys or a port in use creates no tables in PostgreSQL', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  t.teardown(() => other.close());
  await once(other, 'listening');
  const PORT = String((other.address() as AddressInfo).port);
  const DATABASE_URL = postgres.newUrl();
  const name = schemaOf(DATABASE_URL);
  for (const [own, why] of [
    [{ PORT }, /^Cannot listen: /],
    [{ NODE_ENV: 'production', API_KEYS: '' }, /^No API key is configured/],
  ] as const) {
    const { exit, output } = startProgram(t, 'src/main.ts', { env: { DATABASE_URL, ...own }, isCovered: true });
    t.equal(await exit, 1);
    t.match(output.stderr, why);
    const { rows } = await postgres.execute('SELECT FROM pg_tables WHERE schemaname = $1', [name]);
    t.equal(rows.length, 0);
  }
});

t.test('if PostgreSQL cannot be reached, the server does not start, and prints the reason', async (t) => {
  const env = { DATABASE_URL: 'postgres://ada:secret@127.0.0.1:1/pets' };
  const { exit, output } = startProgram(t, 'src/main.ts', { env });
  t.equal(await exit, 1);
  t.match(output.stderr, /^The database pets on 127.0.0.1:1 cannot be used: 127.0.0.1:1: connect ECONNREFUSED/);
  t.notMatch(output.stderr, 'secret');
});

t.test('a start that cannot migrate or check its PostgreSQL database prints one line with the reason', async (t) => {
  const env = { DATABASE_URL: postgres.newUrl() };
  t.equal(await startProgram(t, 'src/main.ts', { args: ['keys', 'list'], env }).exit, 0);
  const other = await postgres.connect(t, env.DATABASE_URL);
  await other.query('BEGIN; LOCK TABLE passed_check');
  const why = async () => {
    const { exit, output } = startProgram(t, 'src/main.ts', { env, isCovered: true });
    const cancelling = setInterval(() => void postgres.execute(cancel), 200);
    t.equal(await exit, 1);
    clearInterval(cancelling);
    return output.stderr;
  };
  // The query of an administrator cancels the waiting statements, so that the test need not wait for the timeout.
  const cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
  const late = 'canceling statement due to user request.\n';
  t.equal(await why(), `The database cannot be used now: ${late}`);
  await other.query('LOCK TABLE applied_migrations');
  t.equal(await why(), `The database postgres on 127.0.0.1:${postgres.port} cannot be used: ${late}`);
});
