/** The load generator: wrk, which takes less of its core than any server here. One in Node would be the limit itself. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { cpuTime, machineTime, toCommand } from './machine.ts';
import type { Running } from './servers.ts';
import type { Stream } from './workloads.ts';

const SCRIPT = fileURLToPath(new URL('./requests.lua', import.meta.url));
/** For how long every reply is checked before it is measured, in seconds. */
const WARM_UP = 1;

/** The measured values; latencies are in milliseconds. */
export interface Figures {
  requests: number;
  perSecond: number;
  p50: number;
  p99: number;
  /** How much of a core the generator used: near 1, it was the limit, not the server. */
  generator: number;
  /** Processor time of the server for a request, in microseconds. */
  cpu: number;
  /** The processor time of the database's own processes; NaN where it has none. */
  databaseCpu: number;
  /** How much of a core other programs used meanwhile. */
  others: number;
}
type Load = Omit<Figures, 'cpu' | 'databaseCpu' | 'others'>;

/** @throws Error at the first wrong reply */
export async function measure(
  streams: Stream[],
  { port, pid }: Running,
  databasePid: number | undefined,
  seconds: number,
): Promise<Figures> {
  await sendLoad(port, streams, WARM_UP, ['check']);
  const look = () => [cpuTime(pid), databasePid ? cpuTime(databasePid) : Number.NaN, machineTime(), performance.now()];
  const before = look();
  const load = await sendLoad(port, streams, seconds);
  const [server = 0, database = 0, machine = 0, elapsed = 0] = look().map((now, index) => now - (before[index] ?? 0));
  return {
    ...load,
    cpu: (server * 1000) / load.requests,
    databaseCpu: (database * 1000) / load.requests,
    others: (machine - server - (database || 0)) / elapsed - load.generator,
  };
}

/** All streams at once: the latencies are those of the first, all else is of all. */
async function sendLoad(port: number, streams: Stream[], seconds: number, args: string[] = []): Promise<Load> {
  const all = await Promise.all(streams.map((stream) => send(port, stream, seconds, args)));
  const sum = (figure: keyof Load) => all.reduce((total, load) => total + load[figure], 0);
  return {
    ...(all[0] as Load),
    requests: sum('requests'),
    perSecond: sum('perSecond'),
    generator: sum('generator'),
  };
}

async function send(port: number, { connections, exchanges }: Stream, time: number, args: string[]): Promise<Load> {
  const options = ['-t1', `-c${connections}`, `-d${time}s`, '--timeout=10s', '-s', SCRIPT];
  const command = ['wrk', ...options, `http://127.0.0.1:${port}`, '--', ...args];
  const child = spawn(...toCommand('load', command), { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(exchanges.map(({ request, reply }) => `${request}\u0001${reply}\u0002`).join(''));
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`wrk ended with code ${code}.`);

  const { requests, seconds, bytes, errors, p50, p99, cpu } = JSON.parse(output.trim().split('\n').at(-1) as string);
  const shortest = Math.min(...exchanges.map(({ reply }) => reply.length));
  if (errors > 0 || bytes < requests * shortest) {
    throw new Error(`Of ${requests} replies, with ${bytes} bytes, ${errors} were errors.`);
  }
  return { requests, perSecond: requests / seconds, p50, p99, generator: cpu / seconds };
}
