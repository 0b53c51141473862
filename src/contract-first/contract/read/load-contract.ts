/** Loads a contract, and collects all problems that would keep the server from serving it. */
import { ContractError, type Operation, type ReadContract } from '../../engine/contract/contract.ts';
import {
  type Document,
  type OperationNode,
  operationsOf,
  type PathItem,
  type ResolvedDocument,
  ROOT_SERVER,
  toPathPrefix,
} from '../../engine/contract/document.ts';
import { sha256Of } from '../../engine/contract/finished.ts';
import { parseWithBigints, parseWithBounds } from '../../engine/contract/numbers.ts';
import { toRoutePath } from '../../engine/contract/path-names.ts';
import { type ContractProblem, isNode, type ReportProblem, reportIn } from '../../engine/schema/json.ts';
import { toPointerOf } from '../../json/pointer.ts';
import { reportExtensions, reportInexactNumbers, withoutWords } from './keywords.ts';
import { toCurrent, withGetAndHead, withIds, withPathNames } from './normal-form.ts';
import { hasDots, operationLabel, reportInOperation, toOperations } from './operations.ts';
import { resolveOf, withTrueReferences } from './references.ts';
import { toKeyLocations } from './security.ts';
import { readSource } from './source.ts';
import { findInvalid } from './validity.ts';

const EMPTY = 'it is empty: an OpenAPI document begins with openapi: 3.1.1';

/** Reads the contract in a file. @throws ContractError that lists all problems */
export async function loadContract(file: URL | string): Promise<ReadContract> {
  const { contract, problems } = await readContract(file);
  if (problems.length > 0) throw new ContractError(problems);
  return contract;
}

/** Converts a document of OpenAPI 3.0 to 3.1. Returns other documents unchanged. */
function toCurrentVersion(source: Record<string, unknown>): Record<string, unknown> {
  const isOlder = typeof source.openapi === 'string' && source.openapi.startsWith('3.0.');
  return isOlder ? toCurrent(source) : source;
}

interface ReadResult {
  contract: ReadContract;
  problems: ContractProblem[];
}

/**
 * Reads the contract, and lists its problems. @throws ContractError if the document is invalid, or a problem affects
 * all operations
 */
export async function readContract(file: URL | string): Promise<ReadResult> {
  const { yaml, json, serversAt } = await readSource(file);
  const source = parseWithBounds(json);
  if (!isNode(source)) throw new ContractError([EMPTY]);
  const current = toCurrentVersion(source);
  const dangling = await findInvalid(toCurrentVersion(withTrueReferences(JSON.parse(json), json)));
  const document = withGetAndHead(withIds(withPathNames(withoutWords(current as Document))));

  const problems: ContractProblem[] = [];
  const report: ReportProblem = (words, pointer = '') => problems.push({ words, pointer });
  const resolved = resolveDocument(document, report);
  // `resolveDocument` reports a dangling reference with the operation that uses it. The validator's report is used only
  // if no operation does.
  if (dangling && problems.length === 0) problems.push(dangling);
  // Operations with an unresolved reference are skipped, and all others are still checked.
  const unresolved = new Set(problems.map(({ words }) => /^operation (\S+): /.exec(words)?.[1]));
  if (unresolved.has(undefined)) throw new ContractError(problems);
  const keyLocations = toKeyLocations(resolved, report);
  const operations = toOperations({ resolved, unresolved, keyLocations }, report);
  reportInexactNumbers(parseWithBigints(json), '#', report);
  reportExtensions(current, report);
  const prefix = toPrefix(document, report);
  reportServerPaths(prefix, operations.values(), report);
  const contract = {
    ...{ yaml, json, serversAt, digest: sha256Of(json), document, resolved, title: document.info.title, prefix },
    ...{ operations, publicPath: '' },
    keyLocations: [...keyLocations.values()].filter((location) => location !== undefined),
  };
  return { contract, problems };
}

/**
 * Replaces the references in paths and security schemes by their targets. The result is a valid OpenAPI document.
 * `report` gets problems with the name of their operation.
 */
export function resolveDocument(document: Document, report: ReportProblem): ResolvedDocument {
  const { openapi, info, security, components = {}, ...rest } = document;
  const resolve = resolveOf(document);
  const paths = Object.entries(rest.paths).map(([path, item]) => [path, resolveItem(path, item)]);
  const securitySchemes = resolve(components.securitySchemes ?? {}, reportIn(report, '/components/securitySchemes'));
  return { openapi, info, security, paths: Object.fromEntries(paths), components: { securitySchemes } };

  function resolveItem(path: string, item: PathItem): PathItem {
    const { $ref, ...own } = item;
    if ($ref) {
      const reportItem = reportIn(report, toPointerOf('paths', path), `path ${path}: `);
      return { ...resolve<PathItem>({ $ref }, reportItem), ...resolve(own, reportItem) };
    }
    const operations = new Map<string, OperationNode>(operationsOf(item));
    const entries = Object.entries(item).map(([key, node]) => {
      const id = operations.get(key)?.operationId;
      const name = id ? operationLabel(id) : `path ${path}`;
      return [key, resolve(node, reportIn(report, toPointerOf('paths', path, key), `${name}: `))];
    });
    return Object.fromEntries(entries);
  }
}

/** Returns the path of the first server, such as `/v1` or an empty text. */
function toPrefix({ servers = [] }: Document, report: ReportProblem): string {
  const [server = ROOT_SERVER] = servers;
  if (typeof server.url !== 'string') {
    report('servers: the first one needs a url, a text such as /v1', '/servers');
    return '';
  }
  const prefix = toPathPrefix(server);
  if (!/^(\/[\w.~:@!$&'()+,;=-]+)*$/.test(prefix) || hasDots(prefix))
    report(`servers: ${prefix} cannot be the path prefix of the operations`, '/servers');
  return prefix;
}

/**
 * Matches paths that the server itself serves, so operations cannot use them: readers expect the documentation at
 * `/docs`, and health checks expect `/livez` and `/readyz`. The server also serves `/` and `/openapi.json`, but
 * operations may use them. If one uses `/`, the server does not redirect `/` to the documentation. If one uses
 * `/openapi.json`, the contract's files are below `/docs`.
 */
const SERVED = /^\/(docs(\/.*)?|livez|readyz)$/;

function reportServerPaths(prefix: string, operations: Iterable<Operation>, report: ReportProblem): void {
  for (const operation of operations) {
    const path = prefix + operation.path;
    if (SERVED.test(prefix + toRoutePath(operation.path)))
      reportInOperation(report, operation)(`${path} is served by the server itself`);
  }
}
