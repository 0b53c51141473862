/** Judges a contract as a start would, and lists the problems of all operations at once. */
import { buildLocationOf, withoutLocation } from '../../contract/located-problems.ts';
import { readContract } from '../../contract/read/load-contract.ts';
import { operationLabel } from '../../contract/read/operations.ts';
import { ContractError, type ReadContract } from '../../engine/contract/contract.ts';
import { operationsOf } from '../../engine/contract/document.ts';
import { loadTeamParts } from '../team-parts.ts';
import { findUnservable } from '../unservable.ts';
import { findNotes, findTokenNotes } from './notes.ts';

export interface JudgedOperation {
  /** The operationId, or what stands in its place; `the contract` for what is about no operation. */
  name: string;
  /** `GET /books`. */
  request: string;
  /** Empty where it is served. */
  problems: { problem: string; advice: string | undefined }[];
}

export interface Judgement {
  rows: JudgedOperation[];
  /** Problems of `src/errors.ts`, which only its team can write: `generate` fails until then. */
  ofTeam: string[];
  /** Lines on what the server does otherwise than the contract says. */
  notes: string[];
}

/** `original` has the text before mistakes were fixed, and the name under which it is known: the positions of problems are in it. */
export async function judge(file: string, original = { file, name: file }): Promise<Judgement> {
  const { contract, problems, ofTeam } = await readAll(file);
  const left = new Set(problems);
  const locationOf = await buildLocationOf(original.file, original.name);
  const toErrorDetails = (problem: string, start = '') => {
    const words = withoutLocation(problem).slice(start.length);
    return { problem: `${locationOf(problem)}: ${words}`, advice: toAdvice(words) };
  };
  const take = (start: string) =>
    problems
      .filter((problem) => problem.startsWith(start) && left.delete(problem))
      .map((problem) => toErrorDetails(problem, start));

  const rows = sourcesOf(contract).map(({ method, path, id }): JudgedOperation => {
    const start = `${operationLabel(id)}: `;
    const request = `${method.toUpperCase()} ${path}`;
    return { name: id, request, problems: take(start) };
  });
  const general = [...left].map((problem) => toErrorDetails(problem));
  if (general.length > 0) rows.unshift({ name: 'the contract', request: '', problems: general });
  return { rows, ofTeam, notes: contract ? [...findTokenNotes(contract), ...findNotes(contract)] : [] };
}

interface Read {
  contract?: ReadContract;
  problems: string[];
  ofTeam: string[];
}

/** Each operation that can be compiled is, beside others that cannot be read. */
async function readAll(file: string): Promise<Read> {
  const problems: string[] = [];
  try {
    const own = await loadTeamParts();
    const read = await readContract(file);
    problems.push(...read.problems);
    const { operations } = read.contract;
    const hasProblems = (id: string) => problems.some((problem) => problem.startsWith(`operation ${id}: `));
    const sound = [...operations].filter(([id]) => id !== '' && !hasProblems(id));
    const contract = { ...read.contract, operations: new Map(sound) };
    const { ofContract, ofTeam } = findUnservable(contract, own);
    return { contract: read.contract, problems: [...problems, ...ofContract], ofTeam };
  } catch (error) {
    if (error instanceof ContractError) return { problems: error.problems, ofTeam: [] };
    throw error;
  }
}

function sourcesOf(contract: ReadContract | undefined): { method: string; path: string; id: string }[] {
  return Object.entries(contract?.resolved.paths ?? {}).flatMap(([path, item]) =>
    operationsOf(item).map(([method, { operationId }]) => ({ method, path, id: operationId as string })),
  );
}

/** Advice on how to change a contract, for refusals that do not say it already. */
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
