/**
 * Sends requests at a fixed rate, whether or not the server keeps up, on several connections that pipeline. This is a
 * process of its own, which gets one load after the other as messages, and answers each with an OpenLoadResult.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

export interface OpenLoad {
  port: number;
  /**
   * The bytes of the request that is sent again and again. All its replies with the same status must have bodies of the
   * same length, because the client learns where a reply ends from the first reply with its status.
   */
  request: string;
  /**
   * Requests per second. If it is 0, each connection keeps `ahead` requests unanswered, and sends the next when one is
   * answered.
   */
  rate: number;
  /** By default 16. */
  ahead?: number;
  seconds: number;
  connections: number;
}

export interface OpenLoadResult {
  sent: number;
  /** The number of replies by status. */
  replies: Record<string, number>;
  /** The number of connections that the server has closed. */
  closed: number;
  /** How long after its due time a reply arrived, in milliseconds: a percentile of all replies other than 503. */
  p50: number;
  p99: number;
  /** The share of one core that this process uses. If it is near 1, the process itself delays the requests. */
  busy: number;
}

/**
 * The interval at which requests are sent, in milliseconds. With one write for each request, this process would be
 * busier than the server.
 */
const INTERVAL = 4;

const HEAD_END = Buffer.from('\r\n\r\n');
const STATUS_AT = 'HTTP/1.1 '.length;

class Client {
  private readonly load: OpenLoad;
  private readonly result: OpenLoadResult;
  private readonly latencies: number[];
  /** The length of the body of a reply, by status. */
  private readonly lengths: Map<string, number>;
  #socket: Socket;
  #due: number[] = [];
  #answered = 0;
  /** The beginning of a reply whose head has not arrived completely. */
  #rest: Buffer = Buffer.alloc(0);
  /** The number of bytes of a body that have not arrived yet. */
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
    // While the kernel accepts no more bytes, nothing is sent. Requests that wait here count as late.
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
