/** Loads a contract. One that the server cannot serve is refused, with all problems at once. */
import { ContractError, type ReadContract } from '../../engine/contract/contract.ts';
import type { Document } from '../../engine/contract/document.ts';
import { sha256Of } from '../../engine/contract/finished.ts';
import { parseWithBigints, parseWithBounds } from '../../engine/contract/numbers.ts';
import { isNode } from '../../engine/schema/json.ts';
import { hasFalseReferences, withoutFalseReferences } from '../schema/false-references.ts';
import { checkExtensions, withoutWords } from './extensions.ts';
import { withGetAndHead } from './get-and-head.ts';
import { checkNumbers } from './numbers.ts';
import { withIds } from './operation-ids.ts';
import { toOperations } from './operations.ts';
import { withPathNames } from './path-names.ts';
import { resolveDocument } from './resolved.ts';
import { toKeyPlaces } from './security.ts';
import { checkOwnPaths, toPrefix } from './servers.ts';
import { readSource } from './source.ts';
import { checkValidity } from './validity.ts';

const EMPTY = 'it is empty: an OpenAPI document begins with openapi: 3.1.1';

/** @throws ContractError */
export async function loadContract(file: URL | string): Promise<ReadContract> {
  const { contract, problems } = await readContract(file);
  if (problems.length > 0) throw new ContractError(problems);
  return contract;
}

/** The document for code that would follow any `$ref`. */
function withTrueReferences(json: string): Record<string, unknown> {
  const document = JSON.parse(json);
  return hasFalseReferences(json, document) ? withoutFalseReferences(document) : document;
}

/** The document, converted to OpenAPI 3.1. */
async function toCurrentVersion(source: Record<string, unknown>): Promise<Record<string, unknown>> {
  const isOlder = typeof source.openapi === 'string' && source.openapi.startsWith('3.0.');
  return isOlder ? (await import('./older-version.ts')).toCurrent(source) : source;
}

/** The contract and its problems. @throws ContractError if its operations cannot be read */
export async function readContract(file: URL | string): Promise<{ contract: ReadContract; problems: string[] }> {
  const { yaml, json, serversAt } = await readSource(file);
  const source = parseWithBounds(json);
  if (!isNode(source)) throw new ContractError([EMPTY]);
  const current = await toCurrentVersion(source);
  const dangling = await checkValidity(await toCurrentVersion(withTrueReferences(json)));
  const document = withGetAndHead(withIds(withPathNames(withoutWords(current as Document))));

  const problems: string[] = [];
  const refuse = (problem: string) => problems.push(problem);
  const resolved = resolveDocument(document, refuse);
  // A dangling reference is reported with its operation; the validator reports those that no operation uses.
  if (dangling && problems.length === 0) refuse(dangling);
  // Other operations than these are judged without them.
  const refused = new Set(problems.map((problem) => /^operation (\S+): /.exec(problem)?.[1]));
  if (refused.has(undefined)) throw new ContractError(problems);
  const keyPlaces = toKeyPlaces(resolved, refuse);
  const isComplete = document['x-complete'] === true;
  const operations = toOperations({ resolved, refused, keyPlaces, isComplete }, refuse);
  checkNumbers(parseWithBigints(json), '#', refuse);
  checkExtensions(current, refuse);
  const prefix = toPrefix(document, refuse);
  checkOwnPaths(prefix, operations.values(), refuse);
  const contract = {
    ...{ yaml, json, serversAt, digest: sha256Of(json), document, resolved, title: document.info.title, prefix },
    ...{ operations, isComplete, publicPath: '' },
    keyPlaces: [...keyPlaces.values()].filter((place) => place !== undefined),
  };
  return { contract, problems };
}
