/**
 * Edits the contract in every meaningful way, one edit at a time, and prints which check notices each: `npm run
 * contract:mutate`. `-- --quick` takes one edit of each kind, `-- --every 4` every fourth edit, `-- <text>` the edits
 * whose place or words contain the text, and `-- --contract <file>` another contract. Fails if an edit is unnoticed.
 */
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { handlers } from '../../src/generated/handlers.ts';
import { buildJudge, isUnnoticed, toReport, toRows, type Verdict } from './judge.ts';
import { mutantsOf, oneOfEach } from './mutants.ts';

const CONTRACT = new URL('../../openapi/petstore.yaml', import.meta.url);
/** The fewest mutants for which it pays to start one more process. */
const FEWEST = 20;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean' }, every: { type: 'string', default: '1' }, contract: { type: 'string' } },
});
const contract = parse(readFileSync(values.contract ?? CONTRACT, 'utf8'));
const mutants = mutantsOf(contract);
const chosen = (values.quick ? oneOfEach(mutants) : mutants)
  .filter((_, index) => index % Number(values.every) === 0)
  .filter(({ place, edit }) => positionals.every((text) => `${place} ${edit}`.includes(text)));
const count = Math.min(availableParallelism(), Math.ceil(chosen.length / FEWEST));
const verdicts: Verdict[] = [];

/** Judges every `count`-th mutant, in this file started again with the number of its share. */
async function judgeShare(share: number): Promise<void> {
  const judge = await buildJudge(contract, handlers);
  for (let index = share; index < chosen.length; index += count) {
    process.send?.([index, await judge(chosen[index]?.build())]);
  }
  process.disconnect();
}

function collectShare(_: unknown, share: number): Promise<void> {
  // The output is of interest only if the process fails: Ajv reports every format that a mutant has invented.
  const child = fork(new URL(import.meta.url), process.argv.slice(2), {
    silent: true,
    env: { ...process.env, SHARE: `${share}` },
  });
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  child.on('message', ([index, verdict]: [number, Verdict]) => {
    verdicts[index] = verdict;
    const done = Object.keys(verdicts).length;
    if (done % 25 === 0 || done === chosen.length) console.error(`${done} of ${chosen.length}`);
  });
  return new Promise((resolve, reject) => {
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(said))));
  });
}

if (process.env.SHARE) await judgeShare(Number(process.env.SHARE));
else {
  await Promise.all(Array.from({ length: count }, collectShare));
  const rows = await toRows(contract, chosen, verdicts);
  console.log(toReport(rows));
  process.exitCode = Number(rows.some(isUnnoticed));
}
