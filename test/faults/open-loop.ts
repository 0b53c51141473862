/**
 * Requests at a fixed rate, whether or not the server keeps up, spread over connections that pipeline: a process of its own.
 * Prints, as JSON, how many replies came with each status, and the latencies of those that were accepted.
 */
import { connect, type Socket } from 'node:net';

export interface OpenLoad {
  port: number;
  /** What is sent each time, to the byte. */
  request: string;
  /** Requests per second; with 0, each connection has 16 on the way, and sends the next when one is answered. */
  rate: number;
  seconds: number;
  connections: number;
}

export interface OpenLoadResult {
  sent: number;
  /** Replies by their status. */
  replies: Record<string, number>;
  /** Connections that the server has closed. */
  closed: number;
  /** Of replies that are no 503, in milliseconds from the time when they were due. */
  p50: number;
  p99: number;
}

class Client {
  private readonly load: OpenLoad;
  private readonly result: OpenLoadResult;
  private readonly latencies: number[];
  #socket: Socket;
  #due: number[] = [];
  #rest = '';
  #isClosed = false;

  constructor(load: OpenLoad, result: OpenLoadResult, latencies: number[]) {
    this.load = load;
    this.result = result;
    this.latencies = latencies;
    this.#socket = this.#connect();
  }

  #connect(): Socket {
    this.#due = [];
    this.#rest = '';
    this.#isClosed = false;
    return connect(this.load.port, '127.0.0.1')
      .setEncoding('latin1')
      .setNoDelay()
      .on('error', () => {})
      .on('data', (text: string) => this.#receive(text))
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

  #receive(text: string): void {
    const now = performance.now();
    const all = this.#rest + text;
    let from = 0;
    let replies = 0;
    for (;;) {
      const at = all.indexOf('HTTP/1.1 ', from);
      if (at < 0 || at + 12 > all.length) break;
      const status = all.slice(at + 9, at + 12);
      if (status !== '100') {
        this.result.replies[status] = (this.result.replies[status] ?? 0) + 1;
        replies++;
        const due = this.#due.shift() as number;
        if (status !== '503') this.latencies.push(now - due);
      }
      from = at + 12;
    }
    if (this.load.rate === 0 && !this.#isClosed) this.send(replies, now);
    this.#rest = all.slice(Math.max(from, all.length - 12));
  }

  end(): void {
    this.#socket.destroy();
  }
}

async function run(load: OpenLoad): Promise<OpenLoadResult> {
  const result: OpenLoadResult = { sent: 0, replies: {}, closed: 0, p50: 0, p99: 0 };
  const latencies: number[] = [];
  const clients = Array.from({ length: load.connections }, () => new Client(load, result, latencies));
  if (load.rate === 0) for (const client of clients) client.send(16, performance.now());
  const began = performance.now();
  let scheduled = 0;
  let next = 0;
  await new Promise<void>((resolve) => {
    const tick = () => {
      const elapsed = (performance.now() - began) / 1000;
      if (elapsed > load.seconds) return resolve();
      const due = Math.floor(elapsed * load.rate) - scheduled;
      scheduled += due;
      const each = Math.max(1, Math.ceil(due / load.connections));
      for (let left = due; left > 0; left -= each) {
        (clients[next++ % clients.length] as Client).send(Math.min(each, left), performance.now());
      }
      setImmediate(tick);
    };
    tick();
  });
  for (const client of clients) client.end();
  latencies.sort((a, b) => a - b);
  result.p50 = latencies[Math.floor(latencies.length * 0.5)] ?? 0;
  result.p99 = latencies[Math.floor(latencies.length * 0.99)] ?? 0;
  return result;
}

console.log(JSON.stringify(await run(JSON.parse(process.argv[2] as string))));
