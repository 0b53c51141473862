/** Judges an edit of the contract: a check refuses it, or the server follows it. All verdicts are shown as a table. */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { compareContracts } from '../../src/contract-first/cli/diff/contracts.ts';
import { buildTypes } from '../../src/contract-first/cli/generate/contract-types.ts';
import { lint } from '../../src/contract-first/cli/lint/lint.ts';
import { loadContract } from '../../src/contract-first/contract/read/load-contract.ts';
import type { ReadContract } from '../../src/contract-first/engine/contract/contract.ts';
import type { Handlers } from '../../src/contract-first/engine/routes/operations.ts';
import type { Json } from '../any-json.ts';
import { buildDiagnose, type Diagnose, filesIn } from '../compiler.ts';
import type { Mutant } from './mutants.ts';
import { type Findings, type Run, startProbedServer } from './probed-server.ts';
import { probesOf } from './probes.ts';

/** Who notices an edit, in words. */
const MEANING = {
  follows: 'the server does what the contract says now',
  start: 'the server, or npm run generate, refuses it',
  compile: 'the code no longer compiles',
  tests: 'the contract documents what no reply does, or allows what fails or is refused by a handler',
  lint: 'the lint of the contract refuses it',
  diff: 'only the comparison with the released contract shows it; no request or reply is different',
  breaks: 'the server starts, and what it sends or ignores breaks the contract',
  nobody: 'the server goes by something else than the contract',
};

/** `unseen`: nothing of what the server does is different, or the default response has what a response of its own had. */
export type Verdict = { by: Exclude<keyof typeof MEANING, 'lint' | 'diff'> | 'unseen'; why: string };

type Judge = (contract: Json) => Promise<Verdict>;

/**
 * `diagnose` says what does not compile; handlers whose types are not from the contract compile with any.
 * @throws Error where the server does not even follow the contract as it is
 */
export async function buildJudge(
  original: Json,
  handlers: Handlers,
  diagnose: (...of: Parameters<Diagnose>) => Iterable<[file: string, said: string]> = buildDiagnose(),
): Promise<Judge> {
  // In this order: the first problem is enough, and the files on top of Fastify's types take the compiler long.
  const files = filesIn(['handlers', 'src/pets', 'src']);
  const unedited = await load(original);
  const types = toCode((await buildTypes(unedited.document)).text);
  const probes = probesOf(unedited.json);
  const before = await (await startProbedServer(unedited, handlers))(probes);
  const ignored = before.ignored.map(({ why }) => why);
  const [problem] = [ignored, before.failed, before.unfit, before.defaulted, before.unkept].flat();
  if (problem) throw new Error(`The server does not keep the contract as it is: ${problem}`);

  return async (edited) => {
    let contract: ReadContract;
    let run: Run;
    try {
      contract = await load(edited);
    } catch (error) {
      return { by: 'start', why: (error as Error).message };
    }
    const editedTypes = (await buildTypes(contract.document)).text;
    if (toCode(editedTypes) !== types) {
      for (const [file, said] of diagnose(files, { 'src/generated/contract.ts': editedTypes })) {
        return { by: 'compile', why: `${file}: ${said}` };
      }
    }
    try {
      run = await startProbedServer(contract, handlers);
    } catch (error) {
      return { by: 'start', why: (error as Error).message };
    }
    try {
      const editedProbes = probesOf(contract.json);
      const findings = await run(editedProbes);
      if (findings.ignored[0]) {
        const { replies } = await (await startProbedServer(unedited, handlers))(editedProbes);
        const stubborn = findings.ignored.find(({ probe }) => replies[probe] === findings.replies[probe]);
        return { by: stubborn ? 'nobody' : 'breaks', why: (stubborn ?? findings.ignored[0]).why };
      }
      if (findings.unfit[0]) return { by: 'breaks', why: findings.unfit[0] };
      const [unkept] = [...findings.failed, ...findings.unkept];
      if (unkept) return { by: 'tests', why: unkept };
      if (findings.defaulted[0]) return { by: 'unseen', why: findings.defaulted[0] };
      const [difference] = await differences(contract, editedProbes, findings);
      return difference ? { by: 'follows', why: difference } : { by: 'unseen', why: '' };
    } catch (error) {
      // A rule that the probes cannot break, or a check that the contract makes impossible: the tests fail at these, too.
      return { by: 'tests', why: String(error) };
    }
  };

  /** Replies that only one of the servers gives, to the probes of both contracts. */
  async function differences(
    contract: ReadContract,
    editedProbes: typeof probes,
    { replies }: Findings,
  ): Promise<string[]> {
    if (JSON.stringify(editedProbes) === JSON.stringify(probes)) return without(replies, before.replies);
    const now = await (await startProbedServer(contract, handlers))(probes);
    const then = await (await startProbedServer(unedited, handlers))(editedProbes);
    return [...without(now.replies, before.replies), ...without(then.replies, replies)];
  }
}

/** The replies that differ from those of the other server to the same probe. */
function without(replies: string[], others: string[]): string[] {
  return replies.filter((reply, index) => reply !== others[index]);
}

async function inFile<Result>(text: string, use: (file: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'contract-mutate-'));
  const file = join(folder, 'contract.yaml');
  writeFileSync(file, text);
  return use(file).finally(() => rmSync(folder, { recursive: true }));
}

const load = (contract: Json): Promise<ReadContract> => inFile(JSON.stringify(contract), loadContract);

/** Types without the comments, which are the contract's words. */
function toCode(types: string): string {
  return types.replace(/\/\*\*[\s\S]*?\*\//g, '');
}

const read = (yaml: string): Json => parse(yaml, { intAsBigInt: true, merge: true });

export interface Row {
  mutant: Mutant;
  by: keyof typeof MEANING;
  why: string;
}

export const isUnnoticed = ({ by }: Row): boolean => by === 'nobody' || by === 'breaks';

/** Rules of the lint, by which the contract must declare what the server sends. */
const OF_REPLIES = / (contract-first\/declared-replies|response-contains-header) /;

/**
 * Returns the rows in the order of the mutants. For mutants that behave as before, the lint and the comparison judge the text; for
 * undeclared replies, the lint judges it.
 */
export function toRows(contract: Json, mutants: Mutant[], verdicts: Verdict[]): Promise<Row[]> {
  return Promise.all(
    mutants.map(async (mutant, index) => {
      const { by, why } = verdicts[index] as Verdict;
      if (by === 'unseen') return readText(contract, mutant);
      const read = by === 'breaks' ? await readText(contract, mutant) : undefined;
      return read?.by === 'lint' && OF_REPLIES.test(read.why) ? read : { mutant, by, why };
    }),
  );
}

async function readText(contract: Json, mutant: Mutant): Promise<Row> {
  const text = stringify(mutant.build());
  const { text: problems } = await inFile(text, (file) => {
    copyFileSync('openapi/redocly.yaml', join(dirname(file), 'redocly.yaml'));
    return lint([file]);
  });
  if (problems) return { mutant, by: 'lint', why: problems.trim() };
  const [change] = compareContracts(read(stringify(contract)), read(text), '2026-11-20');
  if (!change) return { mutant, by: 'nobody', why: 'nothing is different anywhere' };
  return { mutant, by: 'diff', why: `${change.effect.verdict}: ${change.location}: ${change.what}` };
}

/** A line for each, the totals, and why those that nobody has noticed should have been. */
export function toReport(rows: Row[]): string {
  const table = rows.map(({ mutant: { place, edit }, by }) => `${by.padEnd(8)}${place}  ${edit}`);
  const totals = Object.entries(MEANING).map(([by, meaning]) => {
    const count = rows.filter((row) => row.by === by).length;
    return `${String(count).padStart(5)}  ${by.padEnd(8)} ${meaning}`;
  });
  const survivors = rows.filter(isUnnoticed).map(({ mutant, why }) => `\n${mutant.place}: ${mutant.edit}\n  ${why}`);
  return [...table, '', `${rows.length} edits of the contract, noticed by:`, ...totals, ...survivors].join('\n');
}
