/** What notices an edit of the contract: a check that refuses it, or the server, which follows it by itself. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { buildTypes } from '../../scripts/contract-types.ts';
import type { Contract, Json } from '../../src/contract/contract.ts';
import { loadContract } from '../../src/contract/load-contract.ts';
import type { Handlers } from '../../src/wiring/operations.ts';
import type { Probe } from './probe.ts';
import { type Findings, type ProbedServer, startProbedServer } from './probed-server.ts';
import { probesOf } from './probes.ts';
import { buildTypeCheck } from './type-check.ts';

/**
 * `start`: the server refuses to start. `compile`: the code no longer compiles. `tests`: replies no longer fit the contract.
 * `follows`: the server does what the contract says now. `ignored`: it goes on as before, against the contract. `unseen`:
 * nothing of what it does is different.
 */
export type Verdict = { by: 'start' | 'compile' | 'tests' | 'follows' | 'ignored' | 'unseen'; why: string };

export interface Judge {
  judge(contract: Json): Promise<Verdict>;
  close(): Promise<void>;
}

/** @throws Error where the server does not even follow the contract as it is */
export async function buildJudge(original: Json, handlers: Handlers): Promise<Judge> {
  const folder = mkdtempSync(join(tmpdir(), 'contract-mutate-'));
  const file = join(folder, 'contract.yaml');
  const typeCheck = buildTypeCheck();
  const load = async (contract: Json) => {
    writeFileSync(file, JSON.stringify(contract));
    return loadContract(file);
  };

  const contract = await load(original);
  const types = code(await buildTypes(contract.document));
  const unedited = await startProbedServer(contract, handlers);
  const probes = probesOf(contract.json);
  const problem = problemOf(unedited, await unedited.run(probes));
  if (problem) {
    await close();
    throw new Error(`The server does not keep the contract as it is: ${problem.why}`);
  }

  async function judge(mutant: Json): Promise<Verdict> {
    let contract: Contract;
    try {
      contract = await load(mutant);
    } catch (error) {
      return { by: 'start', why: (error as Error).message };
    }
    const mutantTypes = await buildTypes(contract.document);
    const fault = code(mutantTypes) === types ? undefined : typeCheck(mutantTypes);
    return fault ? { by: 'compile', why: fault } : judgeServer(contract);
  }

  async function judgeServer(contract: Contract): Promise<Verdict> {
    let server: ProbedServer;
    try {
      server = await startProbedServer(contract, handlers);
    } catch (error) {
      return { by: 'start', why: (error as Error).message };
    }
    // A check that the contract makes impossible refuses it, too.
    return judgeBehaviour(server, contract.json)
      .catch((error): Verdict => ({ by: 'tests', why: String(error) }))
      .finally(() => server.close());
  }

  /** The server follows when it does what it must do now, and that is not what it did before. */
  async function judgeBehaviour(server: ProbedServer, mutant: string): Promise<Verdict> {
    const mutantProbes = probesOf(mutant);
    const findings = await server.run(mutantProbes);
    const problem = problemOf(server, findings);
    if (problem) return problem;
    const before = await unedited.run(without(mutantProbes, probes));
    const now = await server.run(without(probes, mutantProbes));
    const [difference] = [...before.ignored, ...now.ignored];
    if (difference) return { by: 'follows', why: difference };
    const [missed] = [...before.missed, ...now.missed];
    if (!missed) return { by: 'unseen', why: '' };
    const isShown = !isDeepStrictEqual(await repliesBefore(mutantProbes), findings.defaulted);
    return isShown
      ? { by: 'follows', why: missed }
      : { by: 'ignored', why: `${missed}, and its replies stay the same` };
  }

  /** How the unedited contract's server, freshly started, replies where a default is left to it. */
  async function repliesBefore(mutantProbes: Probe[]): Promise<string[]> {
    const server = await startProbedServer(contract, handlers);
    const { defaulted } = await server.run(mutantProbes);
    await server.close();
    return defaulted;
  }

  async function close(): Promise<void> {
    await unedited.close();
    rmSync(folder, { recursive: true });
  }

  return { judge, close };
}

function problemOf({ unseen }: ProbedServer, { ignored, missed, unfit }: Findings): Verdict | undefined {
  const [demand] = [...ignored, ...missed];
  if (demand) return { by: 'ignored', why: demand };
  if (unfit[0]) return { by: 'tests', why: unfit[0] };
  const [promise] = unseen;
  return promise === undefined ? undefined : { by: 'tests', why: `${promise} is documented, and no reply has it` };
}

/** The probes that are not among the others. */
function without(probes: Probe[], others: Probe[]): Probe[] {
  const known = new Set(others.map((probe) => JSON.stringify(probe)));
  return probes.filter((probe) => !known.has(JSON.stringify(probe)));
}

/** Types without the comments, which are the contract's words. */
function code(types: string): string {
  return types.replace(/\/\*\*[\s\S]*?\*\//g, '');
}
