/** Finds the problems of a contract that stop `generate`. `lint` and `inspect` also use it, so that all three agree. */
import { checkOperations } from '../contract/checks/checked-operations.ts';
import { findUnknownCodes, isOfErrors } from '../contract/checks/server-errors.ts';
import { ContractError, type ReadContract } from '../engine/contract/contract.ts';
import type { ContractProblem } from '../engine/schema/json.ts';
import { findSlowPatterns } from './patterns.ts';
import type { LoadedParts } from './team-parts.ts';

export interface Unservable {
  /** Problems of the contract. */
  ofContract: ContractProblem[];
  /** Problems of `src/errors.ts`, which only its team can write. */
  ofTeam: ContractProblem[];
  /** Warnings about parts that cannot be proven to fit. */
  warnings: ContractProblem[];
}

export function findUnservable(contract: ReadContract, own: LoadedParts): Unservable {
  // A service without collections cannot declare any.
  const unknown = Object.keys(own.domain).length > 0 ? findUnknownCodes(contract, own.domain) : [];
  if (unknown.length > 0) return { ofContract: unknown, ofTeam: [], warnings: [] };
  const slow = findSlowPatterns(contract);
  let warnings: ContractProblem[] = [];
  const problems = problemsThrownBy(() => {
    warnings = checkOperations(contract, { ...own, isLinear: slow.length === 0 });
  });
  const ofContract = [...problems.filter((problem) => !isOfErrors(problem)), ...slow];
  return { ofContract, ofTeam: problems.filter(isOfErrors), warnings };
}

/** Runs a function, and returns the problems that it throws. @throws any Error other than a ContractError */
export function problemsThrownBy(run: () => void): readonly ContractProblem[] {
  try {
    run();
    return [];
  } catch (error) {
    if (error instanceof ContractError) return error.found;
    throw error;
  }
}
