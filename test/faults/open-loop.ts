/**
 * Requests at a fixed rate, whether or not the server keeps up, spread over connections that pipeline: a process of its own,
 * which is sent one load after the other, and answers each with an OpenLoadResult.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

export interface OpenLoad {
  port: number;
  /** The bytes of each request. All replies of one status have bodies of the same length. */
  request: string;
  /** Requests per second; with 0, each connection has `ahead` on the way, and sends the next when one is answered. */
  rate: number;
  /** 16 where it is not given. */
  ahead?: number;
  seconds: number;
  connections: number;
}

export interface OpenLoadResult {
  sent: number;
  /** Replies by their status. */
  replies: Record<string, number>;
  /** Connections that the server has closed. */
  closed: number;
  /** The times of replies other than 503, in milliseconds after they were due. */
  p50: number;
  p99: number;
  /** The share of one core that this process uses. Near 1, the process itself delays the requests. */
  busy: number;
}

/** How often requests are sent, in milliseconds: a write for each request would keep this process busier than the server. */
const INTERVAL = 4;

const HEAD_END = Buffer.from('\r\n\r\n');
const STATUS_AT = 'HTTP/1.1 '.length;

class Client {
  private readonly load: OpenLoad;
  private readonly result: OpenLoadResult;
  private readonly latencies: number[];
  /** The length of a body, by the status of its reply. */
  private readonly lengths: Map<string, number>;
  #socket: Socket;
  #due: number[] = [];
  #answered = 0;
  /** A head that has not arrived in full. */
  #rest: Buffer = Buffer.alloc(0);
  /** The number of bytes of a body that are still missing. */
  #missing = 0;
  #isClosed = false;

  constructor(load: OpenLoad, result: OpenLoadResult, latencies: number[], lengths: Map<string, number>) {
    this.load = load;
    this.result = result;
    this.latencies = latencies;
    this.lengths = lengths;
    this.#socket = this.#connect();
  }

  #connect(): Socket {
    this.#due = [];
    this.#answered = 0;
    this.#rest = Buffer.alloc(0);
    this.#missing = 0;
    this.#isClosed = false;
    return connect(this.load.port, '127.0.0.1')
      .setNoDelay()
      .on('error', () => {})
      .on('data', (bytes: Buffer) => this.#receive(bytes))
      .on('close', () => {
        this.#isClosed = true;
        this.result.closed++;
      });
  }

  send(count: number, due: number): void {
    if (this.#isClosed) this.#socket = this.#connect();
    // What the kernel does not accept yet waits here, and counts as late.
    if (this.#socket.writableLength > 1_000_000) return;
    for (let sent = 0; sent < count; sent++) this.#due.push(due);
    this.result.sent += count;
    this.#socket.write(this.load.request.repeat(count));
  }

  #receive(bytes: Buffer): void {
    const now = performance.now();
    const all = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes;
    let at = this.#missing;
    let replies = 0;
    while (at < all.length) {
      const end = all.indexOf(HEAD_END, at);
      if (end < 0) break;
      const status = all.toString('latin1', at + STATUS_AT, at + STATUS_AT + 3);
      this.#count(status, now);
      replies++;
      at = end + HEAD_END.length + this.#lengthOf(status, all.subarray(at, end));
    }
    this.#missing = Math.max(0, at - all.length);
    this.#rest = all.subarray(Math.min(at, all.length));
    if (this.load.rate === 0 && !this.#isClosed) this.send(replies, now);
  }

  #count(status: string, now: number): void {
    this.result.replies[status] = (this.result.replies[status] ?? 0) + 1;
    const due = this.#due[this.#answered++] as number;
    if (status !== '503') this.latencies.push(now - due);
    if (this.#answered < 1000) return;
    this.#due = this.#due.slice(this.#answered);
    this.#answered = 0;
  }

  #lengthOf(status: string, head: Buffer): number {
    const known = this.lengths.get(status);
    if (known !== undefined) return known;
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head.toString('latin1'))?.[1]);
    this.lengths.set(status, length);
    return length;
  }

  end(): void {
    this.#socket.destroy();
  }
}

async function run(load: OpenLoad): Promise<OpenLoadResult> {
  const result: OpenLoadResult = { sent: 0, replies: {}, closed: 0, p50: 0, p99: 0, busy: 0 };
  const latencies: number[] = [];
  const lengths = new Map<string, number>();
  const clients = Array.from({ length: load.connections }, () => new Client(load, result, latencies, lengths));
  if (load.rate === 0) for (const client of clients) client.send(load.ahead ?? 16, performance.now());
  const began = performance.now();
  const { user, system } = process.cpuUsage();
  let next = 0;
  for (let elapsed = 0, scheduled = 0; elapsed < load.seconds; elapsed = (performance.now() - began) / 1000) {
    const due = Math.floor(elapsed * load.rate) - scheduled;
    scheduled += due;
    const each = Math.ceil(due / load.connections);
    for (let left = due; left > 0; left -= each) {
      (clients[next++ % clients.length] as Client).send(Math.min(each, left), performance.now());
    }
    await wait(INTERVAL);
  }
  const used = process.cpuUsage();
  result.busy = (used.user - user + used.system - system) / 1000 / (performance.now() - began);
  for (const client of clients) client.end();
  latencies.sort((a, b) => a - b);
  result.p50 = latencies[Math.floor(latencies.length * 0.5)] ?? 0;
  result.p99 = latencies[Math.floor(latencies.length * 0.99)] ?? 0;
  return result;
}

process.on('message', async (load: OpenLoad) => process.send?.(await run(load)));
