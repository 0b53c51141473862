/**
 * A night in the life of an operator. A real Prometheus with the alerts of scripts/deploy watches a server under load
 * whose disk stalls. Meanwhile the server is backed up, killed, restored on another disk, and started again.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { findFreePort } from '../../scripts/free-port.ts';
import { alerts, queries } from '../deployed-queries.ts';
import { prepareFaultyDisk } from '../faulty-disk.ts';
import { type ProgramOptions, startProgram, startServer } from '../program.ts';
import { send } from '../service.ts';
import { addFigures } from './figures.ts';

const CLIENTS = 8;

interface Firing {
  state: string;
  labels: { alertname: string };
}

interface Answer {
  status: string;
  data: { result: unknown[]; alerts: Firing[] };
}

/** Starts a Prometheus that scrapes this port once a second. Its alerts fire after three seconds, not after minutes. */
async function startPrometheus(t: Test, target: string) {
  const rules = readFileSync('scripts/deploy/alerts.yaml', 'utf8').replaceAll(/for: \w+/g, 'for: 3s');
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['alerts.yaml'],
    scrape_configs: [{ job_name: 'petstore', static_configs: [{ targets: [`127.0.0.1:${target}`] }] }],
  };
  // Every JSON text is a YAML text.
  const folder = mkdtempSync(join(tmpdir(), 'petstore-prometheus-'));
  writeFileSync(`${folder}/prometheus.yml`, JSON.stringify(config));
  writeFileSync(`${folder}/alerts.yaml`, rules);
  const port = await findFreePort();
  const child = spawn(
    'prometheus',
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  t.teardown(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
    rmSync(folder, { recursive: true });
  });
  const ask = async (path: string) => (await (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json()) as Answer;
  for (;;) {
    const isUp = await ask('query?query=up').catch(() => undefined);
    if (isUp && isUp.data.result.length > 0) break;
    await wait(200);
  }
  return {
    query: (text: string) => ask(`query?query=${encodeURIComponent(text)}`),
    firing: async (): Promise<string[]> => {
      const { data } = await ask('alerts');
      return data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
    },
  };
}

async function until(isSo: () => Promise<boolean>, seconds: number): Promise<number> {
  const start = performance.now();
  while (!(await isSo())) {
    if (performance.now() - start > seconds * 1000) throw new Error(`not within ${seconds} seconds`);
    await wait(250);
  }
  return Math.round((performance.now() - start) / 1000);
}

t.test(
  'in a simulated night, alerts fire and resolve, and backup, kill and restore lose no acknowledged record',
  async (t) => {
    const disk = prepareFaultyDisk(t);
    const folder = dirname((disk.env.DATABASE_URL as string).replace('sqlite:', ''));
    const env = { ...disk.env, CREATE_TIMEOUT: '2000', ADMIN_PORT: '0' };
    const start = () => startServer(t, { env });
    const run = async (name: string, arg: string, options: ProgramOptions = {}) => {
      const program = startProgram(t, 'src/main.ts', { args: [name, arg], env: disk.env, ...options });
      t.equal(await program.exit, 0, program.output.stderr);
    };
    const server = await start();
    const [, admin] = await server.written('stdout', /"admin":"http:\/\/127\.0\.0\.1:(\d+)"/);
    const prometheus = await startPrometheus(t, admin as string);

    const acknowledged = new Map<string, string>();
    let isOver = false;
    let count = 0;
    t.teardown(() => {
      isOver = true;
    });
    const load = Array.from({ length: CLIENTS }, async () => {
      while (!isOver) {
        const options = { method: 'POST', body: { name: `Pet ${++count}`, categoryId: 7 } };
        const reply = await send(server.port, '/v1/pets', options).catch(() => undefined);
        if (reply?.status === 201) acknowledged.set(reply.headers.location as string, reply.text);
        await wait(reply?.status === 201 ? 10 : 200);
      }
    });
    await wait(15_000);
    t.strictSame(await prometheus.firing(), [], 'no alert fires while the server is healthy');
    let answered = 0;
    for (const query of queries()) {
      const { status, data } = await prometheus.query(query);
      t.equal(status, 'success', query);
      if (data.result.length > 0) answered++;
    }
    t.ok(answered > queries().length / 3, `${answered} of ${queries().length} queries had an answer`);

    disk.stall();
    const fired = await until(async () => (await prometheus.firing()).includes('PetstoreWritesFail'), 60);
    t.ok(alerts().some(({ alert }) => alert === 'PetstoreWritesFail'));
    t.equal((await send(server.port, '/v1/pets/1')).status, 200, 'reads work while the disk stalls');
    disk.mend();
    const ended = await until(async () => !(await prometheus.firing()).includes('PetstoreWritesFail'), 180);

    const before = new Map(acknowledged);
    await run('backup', `${folder}/backup`);
    server.child.kill('SIGKILL');
    await server.exit;
    const down = await until(async () => (await prometheus.firing()).includes('PetstoreDown'), 60);
    isOver = true;
    await Promise.all(load);

    const url = `sqlite:${folder}/restored.db`;
    await run('restore', `${folder}/backup`, { env: { ...disk.env, DATABASE_URL: url } });
    const restored = await startServer(t, { env: { ...env, DATABASE_URL: url } });
    let lost = 0;
    for (const [path, text] of before) if ((await send(restored.port, path)).text !== text) lost++;
    t.equal(lost, 0, `${lost} of ${before.size} records are not as they were acknowledged`);
    t.ok(before.size > 1000, `${before.size} records`);
    restored.child.kill('SIGTERM');
    t.equal(await restored.exit, 0);

    // Pets that the server acknowledged after the backup are on the disk of the killed server.
    const again = await start();
    for (const [path, text] of acknowledged) if ((await send(again.port, path)).text !== text) lost++;
    t.equal(lost, 0, `${lost} of ${acknowledged.size} records are not there after the kill`);
    again.child.kill('SIGTERM');
    t.equal(await again.exit, 0);
    addFigures(
      'a night',
      `writes fail: alert after ${fired} s, ended ${ended} s after the disk; down: alert after ${down} s; 0 of ${acknowledged.size} lost`,
    );
  },
);
