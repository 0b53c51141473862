/** What the first process asks the others on behalf of operators: their metrics, and whether they are ready. */
import type { Worker } from 'node:cluster';
import { setTimeout as wait } from 'node:timers/promises';
import { keepCounts, type Snapshot } from '../telemetry/metrics.ts';
import type { OperatorsParts } from '../telemetry/operators.ts';

/** How long a worker may take to answer, in milliseconds: one that hangs must not hold up what the others say. */
const PATIENCE = { metrics: 1000, ready: 3000 };

/** How often a worker sends its metrics unasked, in milliseconds: what is lost of one that is killed. */
const INTERVAL = 1000;

type Subject = keyof typeof PATIENCE;

interface Question {
  report: Subject;
  number: number;
}

interface Answer {
  /** 0 where nobody has asked. */
  reported: number;
  metrics?: Snapshot;
  ready?: boolean;
}

/** In a worker. */
export function answerReports(parts: { isReady(): Promise<boolean>; read(): Promise<Snapshot> }): void {
  const send = (answer: Answer) => process.send?.(answer, undefined, undefined, () => {});
  process.on('message', async ({ report, number }: Question) => {
    if (report === 'ready') send({ reported: number, ready: await parts.isReady() });
    if (report === 'metrics') send({ reported: number, metrics: await parts.read() });
  });
  setInterval(async () => send({ reported: 0, metrics: await parts.read() }), INTERVAL).unref();
}

export interface Reports extends OperatorsParts {
  add(worker: Worker): void;
}

/** In the first process, whose own metrics are added to those of the workers. */
export function buildReports(readOwn: () => Promise<Snapshot>): Reports {
  /** The last metrics of each worker. */
  const last = new Map<Worker, Snapshot>();
  const workers = new Set<Worker>();
  const waiting = new Map<number, (answer: Answer | undefined) => void>();
  /** The counts of those that have ended. */
  let ended: Promise<Snapshot> = Promise.resolve([]);
  let count = 0;

  function ask(worker: Worker, report: Subject): Promise<Answer | undefined> {
    const number = ++count;
    const answer = new Promise<Answer | undefined>((resolve) => {
      waiting.set(number, resolve);
      worker.send({ report, number } satisfies Question, () => {});
    });
    return Promise.race([answer, wait(PATIENCE[report], undefined, { ref: false })]).finally(() =>
      waiting.delete(number),
    );
  }

  return {
    add(worker) {
      workers.add(worker);
      last.set(worker, []);
      worker.on('message', (answer: Answer) => {
        if (answer.reported === undefined) return;
        if (answer.metrics) last.set(worker, answer.metrics);
        waiting.get(answer.reported)?.(answer);
      });
      worker.once('exit', () => {
        workers.delete(worker);
        const left = last.get(worker) as Snapshot;
        last.delete(worker);
        ended = ended.then((before) => keepCounts([before, left]));
      });
    },
    isReady: async () => {
      const answers = await Promise.all([...workers].map((worker) => ask(worker, 'ready')));
      return answers.some((answer) => answer?.ready);
    },
    read: async () => {
      await Promise.all([...workers].map((worker) => ask(worker, 'metrics')));
      return [await readOwn(), await ended, ...last.values()];
    },
  };
}
