/** What notices an edit of the contract: a check that refuses it, or the server, which follows it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildTypes } from '../../src/contract-first/cli/contract-types.ts';
import { describeUndeclared } from '../../src/contract-first/contract/checks/server-replies.ts';
import { loadContract } from '../../src/contract-first/contract/read/load-contract.ts';
import type { ReadContract } from '../../src/contract-first/engine/contract/contract.ts';
import type { Handlers } from '../../src/contract-first/engine/routes/operations.ts';
import type { Json } from '../any-json.ts';
import { buildDiagnose, type Diagnose, filesIn } from '../compiler.ts';
import { type Findings, type Run, startProbedServer } from './probed-server.ts';
import { probesOf } from './probes.ts';

/**
 * `start`: the server, or `npm run generate`, refuses it. `compile`: the code no longer compiles. `tests`: no reply does all that
 * is documented, or a request that the contract allows is refused by a handler, or fails.
 * `breaks`: the server starts, and what it sends or ignores breaks the contract.
 * `follows`: the server does what the contract says now. `nobody`: it goes on as before, against the contract. `unseen`:
 * nothing of what it does is different, or the default response has what a response of its own had.
 */
export type Verdict = { by: 'start' | 'compile' | 'tests' | 'breaks' | 'follows' | 'nobody' | 'unseen'; why: string };

export type Judge = (contract: Json) => Promise<Verdict>;

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
  const files = filesIn(['handlers', 'src/store', 'src']);
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
      const [problem] = describeUndeclared(contract);
      if (problem) return { by: 'start', why: problem };
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

async function load(contract: Json): Promise<ReadContract> {
  const folder = mkdtempSync(join(tmpdir(), 'contract-mutate-'));
  const file = join(folder, 'contract.yaml');
  writeFileSync(file, JSON.stringify(contract));
  return loadContract(file).finally(() => rmSync(folder, { recursive: true }));
}

/** Types without the comments, which are the contract's words. */
function toCode(types: string): string {
  return types.replace(/\/\*\*[\s\S]*?\*\//g, '');
}
