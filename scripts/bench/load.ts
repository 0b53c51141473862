/**
 * Sends load by wrk. A load generator in Node would need more processor time than the server, and would limit the
 * result.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Running, toCommand } from './servers.ts';
import type { Stream } from './workloads.ts';

const SCRIPT = fileURLToPath(new URL('./requests.lua', import.meta.url));
/** The duration of the load before each measurement, in seconds. During this time every reply is checked. */
const WARM_UP = 1;
/** If the load generator uses at least this share of its core, it may limit the result. */
const BUSY = 0.9;

/**
 * The measured values. Processor times are NaN if `/proc` is missing. `databaseCpu` is also NaN without a database
 * server.
 */
export interface Figures {
  perSecond: number;
  /** The 99th percentile of the latency, in milliseconds. */
  p99: number;
  /** The server's processor time per request, in microseconds. */
  cpu: number;
  /** The processor time of the database server's processes per request, in microseconds. */
  databaseCpu: number;
}

interface Load {
  requests: number;
  perSecond: number;
  p99: number;
}

/** Measures the load that a server handles. @throws Error at the first wrong reply */
export async function measure(
  streams: Stream[],
  { port, pid, collect }: Running,
  databasePid: number | undefined,
  seconds: number,
): Promise<Figures> {
  collect();
  await sleep(1000);
  await sendLoad(port, streams, WARM_UP, ['check']);
  const look = () => [cpuTime(pid), databasePid ? cpuTime(databasePid) : Number.NaN] as const;
  const before = look();
  const { requests, perSecond, p99 } = await sendLoad(port, streams, seconds);
  const [cpu, databaseCpu] = look().map((now, index) => ((now - Number(before[index])) * 1000) / requests);
  return { perSecond, p99, cpu: Number(cpu), databaseCpu: Number(databaseCpu) };
}

/**
 * Sends all streams at the same time. `p99` is the value of the first stream. The other values are sums over all
 * streams.
 */
async function sendLoad(port: number, streams: Stream[], seconds: number, args: string[] = []): Promise<Load> {
  const all = await Promise.all(streams.map((stream) => send(port, stream, seconds, args)));
  const sum = (figure: keyof Load) => all.reduce((total, load) => total + load[figure], 0);
  return { requests: sum('requests'), perSecond: sum('perSecond'), p99: Number(all[0]?.p99) };
}

async function send(port: number, { connections, exchanges }: Stream, time: number, args: string[]): Promise<Load> {
  const options = ['-t1', `-c${connections}`, `-d${time}s`, '--timeout=10s', '-s', SCRIPT];
  const command = ['wrk', ...options, `http://127.0.0.1:${port}`, '--', ...args];
  const child = spawn(...toCommand('load', command), { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(exchanges.map(({ request, reply }) => `${request}\u0001${reply}\u0002`).join(''));
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`wrk ended with code ${code}.`);

  const { requests, seconds, bytes, errors, p99, cpu } = JSON.parse(output.trim().split('\n').at(-1) as string);
  const shortest = Math.min(...exchanges.map(({ reply }) => reply.length));
  if (errors > 0 || bytes < requests * shortest)
    throw new Error(`Of ${requests} replies, with ${bytes} bytes, ${errors} were errors.`);
  if (cpu / seconds > BUSY) console.error('wrk used its whole core: it may be the limit, not the server.');
  return { requests, perSecond: requests / seconds, p99 };
}

/**
 * Returns the processor time of a process, its threads and its children, in milliseconds. `/proc` contains it (man 5
 * proc).
 */
function cpuTime(pid: number): number {
  if (!existsSync(`/proc/${pid}/stat`)) return Number.NaN;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? [];
  return [pid, ...children].reduce<number>((total, one) => {
    // The second field may contain blanks, and ends with the last bracket. Fields 14 to 17 contain the processor times
    // of the process, and those of its children that have ended.
    const fields = readFileSync(`/proc/${one}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    // The unit of the fields is a hundredth of a second.
    return total + fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
  }, 0);
}
