/**
 * Finds the problems of a contract that would stop a start. Continues after a problem, so that all operations are
 * checked at once.
 */
import { existsSync } from 'node:fs';
import { buildLocationOf, withoutLocation } from '../../contract/located-problems.ts';
import { readContract } from '../../contract/read/load-contract.ts';
import { operationLabel } from '../../contract/read/operations.ts';
import { ContractError, type ReadContract } from '../../engine/contract/contract.ts';
import { operationsOf } from '../../engine/contract/document.ts';
import type { ContractProblem } from '../../engine/schema/json.ts';
import { writeErrors } from '../scaffold/errors-file.ts';
import { loadTeamParts } from '../team-parts.ts';
import { findUnservable } from '../unservable.ts';
import { findNotes, findTokenNotes } from './notes.ts';

export interface JudgedOperation {
  /**
   * The operationId, or the id that replaces a missing operationId. A row with problems that belong to no operation has
   * the name `the contract`.
   */
  name: string;
  /** The method and the path: `GET /books`. */
  request: string;
  /** The problems of the operation. The server can serve an operation without problems. */
  problems: { problem: string; advice: string | undefined }[];
}

export interface Judgement {
  rows: JudgedOperation[];
  /** Problems that the team must solve in `src/errors.ts`. Until then, `generate` fails. */
  ofTeam: string[];
  /** The problems of `ofTeam` that the `src/errors.ts` written by `new` does not solve. */
  unsolved: string[];
  /** Lines about differences between the server's behaviour and the contract. */
  notes: string[];
}

/**
 * Judges the contract in `file`. `original` is the file before its mistakes were corrected. The positions of problems
 * are positions in this original file.
 */
export async function judge(file: string, original = { file, name: file }): Promise<Judgement> {
  const { contract, problems, ...ofErrors } = await readAll(file);
  const left = new Set(problems);
  const locationOf = await buildLocationOf(original.file, original.name);
  const toErrorDetails = (problem: ContractProblem, start = '') => {
    const words = withoutLocation(problem.words).slice(start.length);
    return { problem: `${locationOf(problem)}: ${words}`, advice: toAdvice(words) };
  };
  const take = (start: string) =>
    problems
      .filter((problem) => problem.words.startsWith(start) && left.delete(problem))
      .map((problem) => toErrorDetails(problem, start));

  const rows = sourcesOf(contract).map(({ method, path, id }): JudgedOperation => {
    const start = `${operationLabel(id)}: `;
    const request = `${method.toUpperCase()} ${path}`;
    return { name: id, request, problems: take(start) };
  });
  const general = [...left].map((problem) => toErrorDetails(problem));
  if (general.length > 0) rows.unshift({ name: 'the contract', request: '', problems: general });
  return { rows, ...ofErrors, notes: contract ? [...findTokenNotes(contract), ...findNotes(contract)] : [] };
}

interface Read {
  contract?: ReadContract;
  problems: readonly ContractProblem[];
  ofTeam: string[];
  unsolved: string[];
}

/** Reads the contract, and finds its problems. If some operations cannot be read, all others are still compiled. */
async function readAll(file: string): Promise<Read> {
  const problems: ContractProblem[] = [];
  try {
    const own = await loadTeamParts();
    const read = await readContract(file);
    problems.push(...read.problems);
    const { operations } = read.contract;
    const hasProblems = (id: string) => problems.some(({ words }) => words.startsWith(`operation ${id}: `));
    const sound = [...operations].filter(([id]) => id !== '' && !hasProblems(id));
    const contract = { ...read.contract, operations: new Map(sound) };
    const { ofContract, ofTeam } = findUnservable(contract, own);
    const isWritten = ofTeam.length > 0 && !existsSync('src/errors.ts');
    const solving = isWritten ? { ...own, toErrorBody: writeErrors(contract).toErrorBody } : own;
    const unsolved = isWritten ? findUnservable(contract, solving).ofTeam : ofTeam;
    const toWords = (found: ContractProblem[]) => found.map(({ words }) => words);
    return {
      contract: read.contract,
      problems: [...problems, ...ofContract],
      ofTeam: toWords(ofTeam),
      unsolved: toWords(unsolved),
    };
  } catch (error) {
    if (error instanceof ContractError) return { problems: error.found, ofTeam: [], unsolved: [] };
    throw error;
  }
}

function sourcesOf(contract: ReadContract | undefined): { method: string; path: string; id: string }[] {
  return Object.entries(contract?.resolved.paths ?? {}).flatMap(([path, item]) =>
    operationsOf(item).map(([method, { operationId }]) => ({ method, path, id: operationId as string })),
  );
}

/**
 * Advice on how to change the contract, for problems without advice in their text. The expression matches the text of
 * the problem.
 */
const ADVICE: [problem: RegExp, advice: string][] = [
  [/^security scheme .* only bearer tokens/, 'type: http, scheme: bearer'],
  [/^security: .* is not in components/, 'declare it there, or take it out'],
  [/in cookie is not supported/, 'send it in a header or the query'],
  [
    /^parameter .*(style|simple types)/,
    'parameters of simple types or arrays of them; what is deeper belongs in a body',
  ],
];

const toAdvice = (problem: string): string | undefined => ADVICE.find(([pattern]) => pattern.test(problem))?.[1];
