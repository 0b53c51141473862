/** The load generator: wrk, which takes less of its core than any server here. One in Node would be the limit itself. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { toCommand } from './machine.ts';
import type { Stream } from './workloads.ts';

const SCRIPT = fileURLToPath(new URL('./requests.lua', import.meta.url));

/** The measured values; latencies are in milliseconds. */
export interface Figures {
  requests: number;
  perSecond: number;
  p50: number;
  p99: number;
  /** How much of a core the generator used, from 0 to 1: near 1, it was the limit, not the server. */
  generator: number;
}

/** @throws Error that says what to install */
export function findWrk(): void {
  if (spawnSync('wrk', ['--version']).error === undefined) return;
  throw new Error(
    'The load generator, wrk, is not on the PATH. Debian and Ubuntu: apt install wrk; macOS: brew install wrk.',
  );
}

/**
 * All streams at once: requests, rate and processor time are those of all, latencies those of the first.
 * @throws Error when a reply was not a success or too short; with `check`, at the first that is not what it must be
 */
export async function sendLoad(
  port: number,
  streams: Stream[],
  { seconds, isPinned, check = false }: { seconds: number; isPinned: boolean; check?: boolean },
): Promise<Figures> {
  const all = await Promise.all(streams.map((stream) => send(port, stream, seconds, isPinned, check)));
  const sum = (of: (figures: Figures) => number) => all.reduce((total, figures) => total + of(figures), 0);
  return {
    ...(all[0] as Figures),
    requests: sum(({ requests }) => requests),
    perSecond: sum(({ perSecond }) => perSecond),
    generator: sum(({ generator }) => generator),
  };
}

async function send(
  port: number,
  { connections, exchanges }: Stream,
  time: number,
  isPinned: boolean,
  check: boolean,
): Promise<Figures> {
  const options = ['-t1', `-c${connections}`, `-d${time}s`, '--timeout=10s', '-s', SCRIPT];
  const url = `http://127.0.0.1:${port}`;
  const [command, args] = toCommand('load', ['wrk', ...options, url, '--', ...(check ? ['check'] : [])], isPinned);
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
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
