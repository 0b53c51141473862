/**
 * Loads any contract for the sandbox, if it can be served. Everything is in memory: neither a service folder nor a
 * build nor a compiler is needed.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { checkOperations } from '../../contract/checks/checked-operations.ts';
import { finish } from '../../contract/finish.ts';
import { toLocated } from '../../contract/located-problems.ts';
import { makePage } from '../../contract/page/page.ts';
import { isInFiles } from '../../contract/read/file-references.ts';
import { loadContract } from '../../contract/read/load-contract.ts';
import { type Contract, ContractError, type Operation, type ReadContract } from '../../engine/contract/contract.ts';
import { readFinished } from '../../engine/contract/finished.ts';
import type { ToErrorBody } from '../../engine/errors/error-body.ts';
import type { AnyDomain } from '../../store/tables/description.ts';
import { withFile, withFixes } from '../inspect/files.ts';
import { ProjectError } from '../project.js';
import { type WrittenCollection, writeCollections } from '../scaffold/collection-files.ts';
import { writeErrors } from '../scaffold/errors-file.ts';
import { findMissingTools } from '../tools.ts';
import { problemsThrownBy } from '../unservable.ts';

export interface LoadedContract {
  contract: Contract;
  /** The collections that `new` would write, except those that the checks of the contract reject. */
  collections: WrittenCollection[];
  toErrorBody: ToErrorBody;
  /** The notes, one line for each correction of the contract and each assumed value. */
  notes: string[];
}

/**
 * Loads a contract. `source` is a file or a URL.
 * @throws ProjectError with readable reasons if the contract cannot be served
 */
export async function loadAny(source: string): Promise<LoadedContract> {
  try {
    return await withFile(source, async (file) => {
      if (file !== source) await checkOneFile(file, source);
      return withFixes(file, load, source);
    });
  } catch (error) {
    throw await toProjectError(error, source);
  }
}

/**
 * Checks that a contract from a URL is a single file.
 * @throws ProjectError if it refers to other files
 */
async function checkOneFile(file: string, source: string): Promise<void> {
  const { parseDocument } = await import('yaml');
  if (isInFiles(parseDocument(readFileSync(file, 'utf8')).toJS()))
    throw new ProjectError(`${source} refers to other files: download all of them, and name the first one.`);
}

async function load(file: string, changes: string[]): Promise<LoadedContract> {
  const read = await loadContract(file);
  const { toErrorBody, notes } = writeErrors(read);
  checkOperations(read, { toErrorBody, domain: {} });
  const collections = findServable(read, toErrorBody);
  const finished = readFinished(finish(read, toDomain(collections)), read.yaml);
  const contract = { ...finished, loadPage: () => makePage(finished, pathToFileURL('/nowhere/clients/')) };
  return { contract, collections, toErrorBody, notes: [...changes, ...notes] };
}

/**
 * Returns the collections that the contract can serve: all of them if the checks find no problem. Otherwise adds one
 * collection after the other, and leaves out each one that causes a problem. Without a collection, the collections
 * below it are left out as well.
 */
function findServable(contract: ReadContract, toErrorBody: ToErrorBody): WrittenCollection[] {
  const { collections } = writeCollections(contract);
  const isServable = (some: WrittenCollection[]) =>
    problemsThrownBy(() => checkOperations(contract, { toErrorBody, domain: toDomain(some) })).length === 0;
  if (collections.length === 0 || isServable(collections)) return collections;
  const kept: WrittenCollection[] = [];
  for (const one of collections) {
    const { parent } = one.plan;
    if (parent && !kept.some(({ name }) => name === parent.name)) continue;
    kept.push(one);
    if (!isServable(kept)) kept.pop();
  }
  return kept;
}

export const toDomain = (collections: WrittenCollection[]): AnyDomain =>
  Object.fromEntries(collections.map(({ name, description }) => [name, description]));

/**
 * Converts an error to readable lines. The problems of a contract get their locations. If the bundler is missing, the
 * message names it. Any other error keeps its message.
 */
async function toProjectError(error: unknown, source: string): Promise<ProjectError> {
  if (error instanceof ProjectError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const missing = code === 'ERR_MODULE_NOT_FOUND' ? findMissingTools(['@redocly/openapi-core']) : undefined;
  if (missing) return new ProjectError(`${source} refers to other files, which a bundler reads. ${missing}`);
  if (!(error instanceof ContractError)) return new ProjectError(message);
  const problems = /^https?:/.test(source) ? error.problems : await toLocated(error.found, source);
  const lines = [...problems.slice(0, MOST_PROBLEMS), ...(problems.length > MOST_PROBLEMS ? ['…'] : [])];
  return new ProjectError([`${source} cannot be served:`, ...lines.map((line) => `  ${line}`)].join('\n'));
}

const MOST_PROBLEMS = 20;

/** Returns the contract without security requirements, so that everybody may call all operations. */
export function withoutKeys(contract: Contract): Contract {
  const open = (operation: Operation): Operation => ({ ...operation, security: [], isKeyOptional: false });
  const operations = [...contract.operations].map(([id, operation]) => [id, open(operation)] as const);
  return { ...contract, operations: new Map(operations), keyLocations: [] };
}
