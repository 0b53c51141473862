/**
 * Judges each edit of the contract: either a check refuses it, or the server follows it. The report is a table of all
 * verdicts.
 */
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

/** What it means that an edit is noticed by this check. */
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

/**
 * `unseen` means that no reply of the server is different, or that only the default response describes a reply that had
 * a response of its own.
 */
export type Verdict = { by: Exclude<keyof typeof MEANING, 'lint' | 'diff'> | 'unseen'; why: string };

type Judge = (contract: Json) => Promise<Verdict>;

/**
 * `diagnose` returns what does not compile with the types of an edited contract. Handlers whose types do not come from
 * the contract compile with every contract.
 * @throws Error where the server does not even follow the unedited contract
 */
export async function buildJudge(
  original: Json,
  handlers: Handlers,
  diagnose: (...of: Parameters<Diagnose>) => Iterable<[file: string, said: string]> = buildDiagnose(),
): Promise<Judge> {
  // The order matters: the first problem is enough, and the compiler needs long for the files that use Fastify's types.
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
      // The probes cannot break some rule, or the contract contradicts itself. The project's tests would fail at this,
      // too.
      return { by: 'tests', why: String(error) };
    }
  };

  /** The replies that only one of the two servers gives, to the probes of both contracts. */
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

/** The replies that differ from the other server's replies to the same probes. */
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

/** The generated types without comments, which are texts of the contract. */
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

/** Lint rules that demand that the contract declares what the server sends. */
const OF_REPLIES = / (contract-first\/declared-replies|response-contains-header) /;

/**
 * Returns the rows in the order of the mutants. If a mutant changes no behaviour, the lint or the comparison of
 * contracts must notice its text. Replies that the contract does not declare can be noticed by the lint, too.
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

/** A line for each row, the totals, and for each unnoticed edit the reason why it should have been noticed. */
export function toReport(rows: Row[]): string {
  const table = rows.map(({ mutant: { place, edit }, by }) => `${by.padEnd(8)}${place}  ${edit}`);
  const totals = Object.entries(MEANING).map(([by, meaning]) => {
    const count = rows.filter((row) => row.by === by).length;
    return `${String(count).padStart(5)}  ${by.padEnd(8)} ${meaning}`;
  });
  const survivors = rows.filter(isUnnoticed).map(({ mutant, why }) => `\n${mutant.place}: ${mutant.edit}\n  ${why}`);
  return [...table, '', `${rows.length} edits of the contract, noticed by:`, ...totals, ...survivors].join('\n');
}
