/**
 * Edits the contract in every meaningful way, one at a time, and says who notices each edit: `npm run contract:mutate`. With
 * `-- --quick` one edit of each kind, with `-- --every 4` a quarter of them, with `-- <text>` those whose place or edit has this text, with `-- --contract <file>` of another. Fails when one is unnoticed.
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
/** Mutants for which it pays to start one more process. */
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

/** This file, started again with the number of its share, judges every `count`-th mutant. */
async function judgeShare(share: number): Promise<void> {
  const judge = await buildJudge(contract, handlers);
  for (let index = share; index < chosen.length; index += count) {
    process.send?.([index, await judge(chosen[index]?.build())]);
  }
  process.disconnect();
}

function collectShare(_: unknown, share: number): Promise<void> {
  // What it says is of interest only when it fails: Ajv reports every format that a mutant has made up.
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
