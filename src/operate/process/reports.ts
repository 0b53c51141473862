/** Lets the first process ask the workers for their metrics, and whether they are ready, on behalf of operators. */
import type { Worker } from 'node:cluster';
import { setTimeout as wait } from 'node:timers/promises';
import { keepCounts, type Snapshot } from '../telemetry/metrics.ts';
import type { OperatorsParts } from '../telemetry/operators.ts';

/** How long a worker may take to answer, in milliseconds: one that hangs must not hold up the others. */
const ANSWER_TIMEOUTS = { metrics: 1000, ready: 3000 };

/** How often a worker sends its metrics unasked, in milliseconds: a worker that is killed loses no more than this. */
const INTERVAL = 1000;

type Subject = keyof typeof ANSWER_TIMEOUTS;

interface Question {
  report: Subject;
  number: number;
}

interface Answer {
  /** The number of the question; 0 for metrics sent unasked. */
  reported: number;
  metrics?: Snapshot;
  ready?: boolean;
}

/** Answers the first process, in a worker. */
export function answerReports(parts: { isReady(): Promise<boolean>; read(): Promise<Snapshot> }): void {
  const send = (answer: Answer) => process.send?.(answer, undefined, undefined, () => {});
  process.on('message', async ({ report, number }: Question) => {
    if (report === 'ready') send({ reported: number, ready: await parts.isReady() });
    if (report === 'metrics') send({ reported: number, metrics: await parts.read() });
  });
  setInterval(async () => send({ reported: 0, metrics: await parts.read() }), INTERVAL).unref();
}

/** Collects the workers' reports in the first process, and adds its own metrics. */
export class Reports implements OperatorsParts {
  readonly #readOwn: () => Promise<Snapshot>;
  /** The last metrics of each worker. */
  readonly #last = new Map<Worker, Snapshot>();
  readonly #waiting = new Map<number, (answer: Answer | undefined) => void>();
  /** The counts of workers that have ended. */
  #ended: Promise<Snapshot> = Promise.resolve([]);
  #count = 0;

  constructor(readOwn: () => Promise<Snapshot>) {
    this.#readOwn = readOwn;
  }

  add(worker: Worker): void {
    this.#last.set(worker, []);
    worker.on('message', (answer: Answer) => {
      if (answer.reported === undefined) return;
      if (answer.metrics && this.#last.has(worker)) this.#last.set(worker, answer.metrics);
      this.#waiting.get(answer.reported)?.(answer);
    });
    worker.once('exit', () => {
      const left = this.#last.get(worker) as Snapshot;
      this.#last.delete(worker);
      this.#ended = this.#ended.then((before) => keepCounts([before, left]));
    });
  }

  async isReady(): Promise<boolean> {
    const answers = await this.#askAll('ready');
    return answers.some((answer) => answer?.ready);
  }

  async read(): Promise<Snapshot[]> {
    await this.#askAll('metrics');
    return [await this.#readOwn(), await this.#ended, ...this.#last.values()];
  }

  #askAll(report: Subject): Promise<(Answer | undefined)[]> {
    return Promise.all([...this.#last.keys()].map((worker) => this.#ask(worker, report)));
  }

  /** Resolves with undefined if no answer comes in time. */
  #ask(worker: Worker, report: Subject): Promise<Answer | undefined> {
    const number = ++this.#count;
    const answer = new Promise<Answer | undefined>((resolve) => {
      this.#waiting.set(number, resolve);
      worker.send({ report, number } satisfies Question, () => {});
    });
    return Promise.race([answer, wait(ANSWER_TIMEOUTS[report], undefined, { ref: false })]).finally(() =>
      this.#waiting.delete(number),
    );
  }
}
