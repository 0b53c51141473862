/** The verdicts on many mutants, by processes that share them out among each other. */
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import type { Json } from '../../src/contract/contract.ts';
import type { Verdict } from './judge.ts';

/** Mutants for which it pays to start one more process. */
const FEWEST = 20;

export interface Share {
  contract: Json;
  /** Which of `mutantsOf(contract)` are to be judged. */
  indexes: number[];
}

export interface Judged {
  index: number;
  verdict: Verdict;
}

/** The verdict on each, by its index among all mutants of the contract. @throws Error when a process fails */
export async function judgeInProcesses(
  { contract, indexes }: Share,
  onJudged: () => void,
): Promise<Map<number, Verdict>> {
  const verdicts = new Map<number, Verdict>();
  const count = Math.min(availableParallelism(), Math.ceil(indexes.length / FEWEST));
  const shares = Array.from({ length: count }, (_, share) => indexes.filter((_, at) => at % count === share));
  await Promise.all(
    shares.map((share) =>
      judgeShare({ contract, indexes: share }, ({ index, verdict }) => {
        verdicts.set(index, verdict);
        onJudged();
      }),
    ),
  );
  return verdicts;
}

function judgeShare(share: Share, onJudged: (judged: Judged) => void): Promise<void> {
  // What it says is of interest only when it fails: Ajv tells of every format that a mutant has made up.
  const child = fork(new URL('./judging-process.ts', import.meta.url), { silent: true });
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  child.on('message', onJudged);
  child.send(share);
  return new Promise((resolve, reject) => {
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(said))));
  });
}
