import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { startPostgres } from '../postgres.ts';
import { type Server, startServer } from '../program.ts';
import { send } from '../service.ts';
import { addFigures } from './figures.ts';

const ROUNDS = Number(process.env.ROUNDS) || 10;
const CLIENTS = 8;

t.test(
  `in ${ROUNDS} failovers to a synchronous standby, no pet that got an id is lost, and none that is sent again with its key is doubled`,
  async (t) => {
    let [acknowledged, unknown, replayed, lost, doubled, hung, slowest] = [0, 0, 0, 0, 0, 0, 0];
    for (let round = 1; round <= ROUNDS; round++) {
      await t.test(`failover ${round}`, async (t) => {
        const primary = await startPostgres(t);
        await primary.stop();
        const standby = await startPostgres(t, primary);
        await primary.start(['synchronous_standby_names=*']);
        const url = primary.newUrl().replace(/@[^/]*/, `@127.0.0.1:${primary.port},127.0.0.1:${standby.port}`);
        const servers = [1, 2].map(() => startServer(t, { env: { DATABASE_URL: url } }));
        const ports = (await Promise.all(servers)).map(({ port }: Server) => port);

        const created = new Map<string, number>();
        let isOver = false;
        let lastCreated = 0;
        let [asked, failed, slow] = [0, 0, 0];
        const create = async (client: number) => {
          for (let count = 0; !isOver; count++) {
            const name = `${client} ${count}`;
            const headers = { 'idempotency-key': `${client}-${count}` };
            while (!created.has(name)) {
              const started = performance.now();
              // To any of the servers.
              const port = ports[(client + asked++) % ports.length] as number;
              const request = { method: 'POST', body: { name, categoryId: client }, headers };
              const { status, text, headers: replied } = await send(port, '/v1/pets', request);
              if (performance.now() - started > 2000) slow++;
              if (status === 201) {
                created.set(name, JSON.parse(text).id);
                lastCreated = performance.now();
                replayed += replied['idempotency-replayed'] ? 1 : 0;
              } else failed += JSON.parse(text).code === 'outcome_unknown' ? 1 : 0;
            }
          }
        };
        const clients = Array.from({ length: CLIENTS }, (_, client) => create(client));
        await wait(1000);
        await primary.signal('SIGKILL');
        await standby.execute('SELECT pg_promote()');
        const promoted = performance.now();
        while (lastCreated < promoted) await wait(10);
        const recovery = (performance.now() - promoted) / 1000;
        await wait(500);
        isOver = true;
        await Promise.all(clients);

        const schema = /schema=(\w+)/.exec(url)?.[1];
        const { rows } = await standby.execute(`SELECT name, array_agg(id) AS ids FROM ${schema}.pets GROUP BY name`);
        const stored = new Map(rows.map(({ name, ids }) => [name as string, (ids as string[]).map(Number)]));
        for (const [name, id] of created) if (!stored.get(name)?.includes(id)) lost++;
        for (const ids of stored.values()) if (ids.length > 1) doubled++;
        acknowledged += created.size;
        unknown += failed;
        hung += slow;
        slowest = Math.max(slowest, recovery);
      });
    }
    addFigures(
      'failover to a standby',
      `${lost} lost and ${doubled} doubled of ${acknowledged} pets, ${unknown} of unknown outcome, ${replayed} replayed, ${hung} answers after more than 2 s, back ${slowest.toFixed(1)} s after the promotion at most`,
    );
    t.ok(acknowledged > 100 * ROUNDS);
    t.equal(lost, 0);
    t.equal(doubled, 0);
    t.ok(slowest < 10, `back after ${slowest} s`);
  },
);
