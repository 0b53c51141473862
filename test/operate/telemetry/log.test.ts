import t from 'tap';
import { startServer, startWithLog } from '../../program.ts';
import { requestLongUrls, requestOn, stop } from './held-log.ts';

t.test('a log on a full disk delays neither requests nor the stop', async (t) => {
  const server = await startWithLog(t, { shell: 'exec >/dev/full', isCovered: true });
  t.equal((await server.request('/v1/pets', { key: server.key })).status, 200);
  t.equal((await server.request('/livez')).status, 200);
  t.equal(await stop(server), 0);
});

t.test(
  'a log that nobody reads holds up nothing, and reports how many lines were lost when somebody reads again',
  async (t) => {
    const server = await startServer(t, { isCovered: true });
    const request = requestOn(t, server.port);
    server.child.stdout?.pause();
    await requestLongUrls(request, 4000);
    t.equal((await request('/v1/pets')).status, 200);

    server.child.stdout?.resume();
    const [, digits] = await server.written('stdout', /"count":(\d+),"msg":"lines of the log were lost"/);
    const lost = Number(digits);
    t.ok(lost > 200 && lost < 400, `${lost} lines were lost`);
    await request('/livez?the-last');
    await server.written('stdout', /the-last.*\n/);
    const lines = server.output.stdout.trimEnd().split('\n');
    // The rest is whole: a line each for the database that was made and for listening, for the requests that are left, and for what was lost.
    t.equal(lines.map((line) => JSON.parse(line)).length, 2 + 4002 - lost + 1);

    server.child.stdout?.pause();
    await requestLongUrls(request, 100);
    t.equal(await stop(server), 0);
  },
);
