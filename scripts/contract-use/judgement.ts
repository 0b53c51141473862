/** Judges a contract as a start would, and lists the problems of all operations at once. */
import { readFileSync } from 'node:fs';
import { ContractError, type ReadContract } from '../../src/engine/contract/contract.ts';
import { operationsOf } from '../../src/engine/contract/document.ts';
import { readContract } from '../../src/engine/contract/load-contract.ts';
import { buildPlaceOf, withoutPlace } from '../../src/engine/contract/located.ts';
import { nameOf } from '../../src/engine/contract/operations.ts';
import { toTokenSchemes } from '../../src/engine/contract/security.ts';
import { checkOperations } from '../../src/engine/routes/checked-operations.ts';
import { domain } from '../../src/generated/domain.ts';
import { describeNotes } from '../contract-notes.ts';
import { describeSlowPatterns } from '../patterns.ts';
import { toAdvice } from './advice.ts';
import { buildErrorsFile, loadErrors } from './errors-file.ts';

export interface Row {
  /** The operationId, or what stands in its place; `the contract` for what is about no operation. */
  name: string;
  /** `GET /pets`. */
  request: string;
  /** Empty where it is served. */
  problems: { problem: string; advice: string | undefined }[];
}

export interface Judgement {
  rows: Row[];
  /** The first `src/errors.ts` for it. */
  errors: string;
  /** Whether another one makes all of its errors, too. */
  fits: (text: string) => Promise<boolean>;
  /** Of the operations. */
  ids: string[];
  /** Whether it needs tokens of others. */
  needsTokens: boolean;
  /** The places where the server does otherwise than the contract says. */
  notes: string[];
}

/** `original` has the text before slips were set right, and the name under which it is known: the places of problems are in it. */
export async function judge(file: string, original = { file, name: file }): Promise<Judgement> {
  const { contract, errors, fits, problems } = await readAll(file);
  const left = new Set(problems);
  const placeOf = buildPlaceOf(problems.length > 0 ? readFileSync(original.file, 'utf8') : '', original.name);
  const toTold = (problem: string, start = '') => {
    const words = withoutPlace(problem).slice(start.length);
    return { problem: `${placeOf(problem)}: ${words}`, advice: toAdvice(words) };
  };
  const take = (start: string) =>
    problems
      .filter((problem) => problem.startsWith(start) && left.delete(problem))
      .map((problem) => toTold(problem, start));

  const rows = sourcesOf(contract).map(({ method, path, id }): Row => {
    const start = `${nameOf(id)}: `;
    const request = `${method.toUpperCase()} ${path}`;
    return { name: id, request, problems: take(start) };
  });
  const general = [...left].map((problem) => toTold(problem));
  if (general.length > 0) rows.unshift({ name: 'the contract', request: '', problems: general });
  const schemes = contract ? toTokenSchemes(contract.resolved) : [];
  const unchecked = schemes.map(
    (name) => `security scheme ${name}: src/tokens.ts is to check its tokens; the first one refuses them all`,
  );
  return {
    rows,
    errors,
    fits,
    needsTokens: schemes.length > 0,
    ids: [...(contract?.operations.keys() ?? [])],
    notes: contract ? [...unchecked, ...describeNotes(contract)] : [],
  };
}

/** Each operation that can be compiled is, beside others that cannot be read. */
async function readAll(
  file: string,
): Promise<Pick<Judgement, 'errors' | 'fits'> & { contract?: ReadContract; problems: string[] }> {
  const problems: string[] = [];
  try {
    const read = await readContract(file);
    problems.push(...read.problems);
    const { operations } = read.contract;
    const isRefused = (id: string) => problems.some((problem) => problem.startsWith(`operation ${id}: `));
    const sound = [...operations].filter(([id]) => id !== '' && !isRefused(id));
    const contract = { ...read.contract, operations: new Map(sound) };
    const errors = buildErrorsFile(contract);
    const toErrorBody = await loadErrors(errors);
    collect(problems, () => checkOperations(contract, { toErrorBody, domain }));
    collect(problems, () => problems.push(...describeSlowPatterns(contract)));
    return { contract: read.contract, errors, fits: (text) => doesFit(text, contract), problems };
  } catch (error) {
    return { errors: '', fits: async () => false, problems: problemsOf(error) };
  }
}

/** One that cannot be loaded, since it is none or imports others, does not. */
async function doesFit(text: string, contract: ReadContract): Promise<boolean> {
  try {
    checkOperations(contract, { toErrorBody: await loadErrors(text), domain });
    return true;
  } catch {
    return false;
  }
}

function collect(problems: string[], run: () => unknown): void {
  try {
    run();
  } catch (error) {
    problems.push(...problemsOf(error));
  }
}

function problemsOf(error: unknown): string[] {
  if (error instanceof ContractError) return error.problems;
  throw error;
}

function sourcesOf(contract: ReadContract | undefined): { method: string; path: string; id: string }[] {
  return Object.entries(contract?.resolved.paths ?? {}).flatMap(([path, item]) =>
    operationsOf(item).map(([method, { operationId }]) => ({ method, path, id: operationId as string })),
  );
}
