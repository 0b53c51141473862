/**
 * Finds the problems of a contract that stop `generate`. `lint` and `inspect` use the same function, so that all three
 * agree.
 */
import { checkOperations } from '../contract/checks/checked-operations.ts';
import { findUnknownCodes, isOfErrors } from '../contract/checks/server-errors.ts';
import { ContractError, type ReadContract } from '../engine/contract/contract.ts';
import type { ContractProblem } from '../engine/schema/json.ts';
import { findSlowPatterns } from './patterns.ts';
import type { LoadedParts } from './team-parts.ts';

export interface Unservable {
  /** Problems of the contract. */
  ofContract: ContractProblem[];
  /** Problems that the team must solve in `src/errors.ts`. */
  ofTeam: ContractProblem[];
  /** Warnings about requests, records and replies without a proof that the values of one fit the next. */
  warnings: ContractProblem[];
}

export function findUnservable(contract: ReadContract, own: LoadedParts): Unservable {
  // Error codes are checked only if the service has collections, because only a collection can declare them.
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

/**
 * Runs a function. If it throws a ContractError, returns the problems of this error.
 * @throws any other error unchanged
 */
export function problemsThrownBy(run: () => void): readonly ContractProblem[] {
  try {
    run();
    return [];
  } catch (error) {
    if (error instanceof ContractError) return error.found;
    throw error;
  }
}
