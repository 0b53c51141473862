/**
 * Edits the contract in every meaningful way, one at a time, and says who notices each edit: `npm run contract:mutate`. With
 * `-- --quick` one edit of each kind, with `-- <text>` those whose place or edit has this text. Fails when one is unnoticed.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import type { Verdict } from './judge.ts';
import { type Mutant, mutantsOf, oneOfEach } from './mutants.ts';
import { toReport } from './report.ts';
import { toRows } from './rows.ts';
import { judgeInProcesses } from './verdicts.ts';

const CONTRACT = new URL('../../openapi/petstore.yaml', import.meta.url);

const { values, positionals } = parseArgs({ allowPositionals: true, options: { quick: { type: 'boolean' } } });
const contract = parse(readFileSync(CONTRACT, 'utf8'));
const mutants = mutantsOf(contract);
const isChosen = ({ place, edit }: Mutant) => positionals.every((text) => `${place} ${edit}`.includes(text));
const chosen = (values.quick ? oneOfEach(mutants) : mutants).filter(isChosen);
const indexes = chosen.map((mutant) => mutants.indexOf(mutant));

const started = Date.now();
let done = 0;
const verdicts = await judgeInProcesses({ contract, indexes }, () => {
  done++;
  const isTold = done % 25 === 0 || done === chosen.length;
  if (isTold) console.error(`${done} of ${chosen.length}, ${Math.round((Date.now() - started) / 1000)} s`);
});
const rows = await toRows(
  contract,
  chosen,
  indexes.map((index) => verdicts.get(index) as Verdict),
);
console.log(toReport(rows));
process.exitCode = Number(rows.some(({ by }) => by === 'nobody'));
