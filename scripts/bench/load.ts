/**
 * The load generator: 64 keep-alive connections on plain sockets, one request at a time on each, every reply checked. It is
 * our own because wrk cannot tell the reads of a mix from its writes, and autocannon takes twice as long over a request that
 * varies: too long for a server as fast as these, where this one asks 70,000 times a second.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Latencies } from './latencies.ts';
import type { Exchange } from './workloads.ts';

export const CONNECTIONS = 64;
/** With its headers, in bytes. */
const LONGEST_REPLY = 65536;

/** What was measured, latencies in milliseconds. */
export interface Figures {
  perSecond: number;
  requests: number;
  p50: number;
  p99: number;
  /** Of the reads alone; 0 where there are none. */
  readP99: number;
}

export interface Load {
  /** Measures from now on for so many seconds. @throws Error at the first reply that is not what it must be */
  measure(seconds: number): Promise<Figures>;
  stop(): void;
}

export function startLoad(port: number, next: () => Exchange): Load {
  let all = new Latencies();
  let reads = new Latencies();
  let fail: (error: Error) => void = () => {};
  const failure = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  // It may come while nobody measures: the next measurement tells of it.
  failure.catch(() => {});

  function openConnection(): Socket {
    const buffer = Buffer.alloc(LONGEST_REPLY);
    let filled = 0;
    let exchange: Exchange;
    let sentAt: number;

    function send() {
      exchange = next();
      filled = 0;
      sentAt = performance.now();
      socket.write(exchange.request, 'latin1');
    }

    function receive(length: number) {
      filled += length;
      const reply = toReply(buffer.subarray(0, filled));
      if (!reply) return true;
      const latency = performance.now() - sentAt;
      all.add(latency);
      if (exchange.kind === 'read') reads.add(latency);
      if (isRight(exchange, reply)) send();
      else fail(wrongReply(exchange, reply));
      return true;
    }

    const onread = { buffer: () => buffer.subarray(filled), callback: receive };
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread });
    socket.on('connect', send);
    socket.on('error', fail);
    socket.on('end', () => fail(new Error('The server closed a connection.')));
    return socket;
  }

  const sockets = Array.from({ length: CONNECTIONS }, openConnection);

  return {
    async measure(seconds) {
      all = new Latencies();
      reads = new Latencies();
      const begin = performance.now();
      await Promise.race([sleep(seconds * 1000), failure]);
      const elapsed = (performance.now() - begin) / 1000;
      if (all.count === 0) throw new Error(`No reply came within ${seconds} s.`);
      return {
        perSecond: all.count / elapsed,
        requests: all.count,
        p50: all.at(0.5),
        p99: all.at(0.99),
        readP99: reads.at(0.99),
      };
    },
    stop() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

interface Reply {
  status: number;
  body: string;
}

/** The reply, when all of it is there. Every server here sends a Content-Length; without one the body counts as empty. */
function toReply(received: Buffer): Reply | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = received.toString('latin1', 0, headEnd);
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  const bodyStart = headEnd + 4;
  const bodyEnd = bodyStart + length;
  if (received.length < bodyEnd) return undefined;
  return { status: Number(head.slice(9, 12)), body: received.toString('latin1', bodyStart, bodyEnd) };
}

function isRight({ status, begins, ends }: Exchange, reply: Reply): boolean {
  return reply.status === status && reply.body.startsWith(begins) && reply.body.endsWith(ends);
}

function wrongReply({ request, status, begins, ends }: Exchange, reply: Reply): Error {
  return new Error(`A wrong reply to
${request}
  expected ${status} ${begins} … ${ends}
  but got  ${reply.status} ${reply.body}`);
}
