import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import type { Reply } from '../contract-check.ts';
import { descriptorsOf, untilDescriptors } from '../descriptors.ts';
import { startWithLog } from '../program.ts';
import { connectRaw } from '../raw-client.ts';
import { addFigures } from './figures.ts';
import { makeSessions, type Session } from './request-pieces.ts';

/** The fault that it was written for took between 103 and 328. */
const COUNT = Number(process.env.SESSIONS ?? 1000);
const SEED = Number(process.env.SEED ?? 1);
/** How many connections are open at the same time. */
const CLIENTS = 40;

const CONFIGURATIONS: Record<string, Record<string, string>> = {
  'as it starts': {},
  'behind a proxy, traced': {
    TRUST_PROXY: '127.0.0.1',
    UNAUTHORIZED_RATE: '100000/s',
    LOG_LEVEL: 'warn',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
  },
  'for scripts of other origins': { CORS_ORIGINS: 'https://a.example', ADMIN_PORT: '0' },
  'with narrow limits': { MAX_CONNECTIONS: '30', MAX_PIPELINED: '2', REPLY_TIMEOUT: '1000' },
};

async function play(port: number, { packets, pauses, end }: Session): Promise<Reply[]> {
  const { socket, ended, closed, received } = connectRaw(port);
  await Promise.race([new Promise((resolve) => socket.once('connect', resolve)), closed]);
  for (const [index, packet] of packets.entries()) {
    socket.write(packet, 'latin1');
    if (pauses[index]) await wait(pauses[index]);
  }
  if (end === 'half') socket.end();
  if (end === 'reset') socket.resetAndDestroy();
  else await ended;
  socket.destroy();
  await closed;
  return received().replies;
}

function problemsOf(replies: Reply[]): string[] {
  return replies.flatMap(({ status, headers, text }, index) => [
    ...(replies[index - 1]?.headers.connection === 'close' ? ['a reply behind the last one'] : []),
    ...(headers['x-request-id'] ? [] : [`${status} without an id`]),
    ...(status >= 500 && ![501, 503, 505].includes(status) ? [`${status} ${text}`] : []),
  ]);
}

for (const [name, env] of Object.entries(CONFIGURATIONS)) {
  t.test(`${COUNT} sessions of random pieces of requests leave the server as it was: ${name}`, async (t) => {
    const { child, port, key, request, output, exit } = await startWithLog(t, {
      env: { REQUEST_TIMEOUT: '500', ...env },
    });
    await request('/livez');
    const before = descriptorsOf(child);
    const sessions = makeSessions(SEED, COUNT, key);
    const problems: string[] = [];
    const statuses: Record<number, number> = {};
    let played = 0;
    async function work(): Promise<void> {
      for (const session of sessions) {
        const replies = await play(port, session);
        played++;
        for (const { status } of replies) statuses[status] = (statuses[status] ?? 0) + 1;
        for (const problem of problemsOf(replies))
          problems.push(
            `${problem}: ${JSON.stringify(session)
              .replace(/x{99,}/g, 'x*')
              .slice(0, 1500)}`,
          );
        if (child.exitCode !== null || child.signalCode !== null) return;
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, work));
    t.strictSame([child.exitCode, child.signalCode], [null, null], output.stderr);
    t.equal(played, COUNT);
    t.strictSame(problems, []);
    // Only then no connection of theirs counts for the limits.
    const after = await untilDescriptors(child, before);
    t.ok(after <= before, `${after} descriptors, ${before} before`);
    t.equal((await request('/livez')).status, 200);
    child.kill('SIGTERM');
    t.equal(await exit, 0);
    t.notMatch(output.stdout, /"level":[56]0/);
    const tally = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
    addFigures(`${COUNT} sessions of pieces, ${name}`, tally.join(', '));
  });
}
