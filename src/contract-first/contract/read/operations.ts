/** Reads the operations of the contract. */
import type { Body, Content, Operation, Reply } from '../../engine/contract/contract.ts';
import {
  type BodyNode,
  type Method,
  type OperationNode,
  operationsOf,
  type PathItem,
  type ResolvedDocument,
  type ResponseNode,
} from '../../engine/contract/document.ts';
import { decodePath, namesIn } from '../../engine/contract/path-names.ts';
import { isJson, PLAIN_JSON } from '../../engine/contract/replies.ts';
import { type ReportProblem, reportIn } from '../../engine/schema/json.ts';
import { toPointerOf } from '../../json/pointer.ts';
import { bodyKindOf, reportForm, reportRawBody, toTypes } from './bodies.ts';
import { withoutFields } from './directions.ts';
import { findInt64s } from './keyword-types.ts';
import { toDeprecation } from './keywords.ts';
import { withoutNames } from './normal-form.ts';
import { toParameters } from './parameters.ts';
import { isNoKey, type KeyLocations, reportScopes, toSecurity } from './security.ts';
import { isValidOperation } from './validity.ts';

/** The default size limit of bodies, the same as Fastify's for JSON. */
export const MAX_BYTES = 1_048_576;

/** The name of an operation at the start of a problem. */
export const operationLabel = (id: string) => `operation ${id}`;

/** Returns a `report` that adds the name and the pointer of an operation to each problem. */
export const reportInOperation = (
  report: ReportProblem,
  { id, path, method }: Pick<Operation, 'id' | 'path' | 'method'>,
) => reportIn(report, toPointerOf('paths', path, method.toLowerCase()), `${operationLabel(id)}: `);

interface Options {
  resolved: ResolvedDocument;
  /** The ids of operations with a reference that leads nowhere. */
  unresolved: Set<string | undefined>;
  keyLocations: KeyLocations;
}

export function toOperations(
  { resolved, unresolved, keyLocations }: Options,
  report: ReportProblem,
): Map<string, Operation> {
  const operations = new Map<string, Operation>();
  const byRoute = new Map<string, Operation>();
  let isWhole = true;
  for (const [path, item] of Object.entries(resolved.paths)) {
    for (const [method, { ...source }] of operationsOf(item)) {
      source.security ??= resolved.security ?? [];
      const reportOperation = reportInOperation(report, { id: source.operationId as string, path, method });
      // Skips an operation that cannot be read, so that all others are still checked.
      if (unresolved.has(source.operationId) || !isValidOperation(item, source, reportOperation)) {
        isWhole = false;
        continue;
      }
      reportScopes(source.security, resolved.components.securitySchemes, reportIn(reportOperation, '/security'));
      const operation = toOperation({ method, path, item, source }, keyLocations, reportOperation);
      operations.set(operation.id, operation);
      const route = `${method} ${toRoutePath(path)}`;
      const problem = method === 'trace' ? 'TRACE is not served' : findUnserved(path);
      if (problem) reportOperation(problem);
      const same = byRoute.get(route);
      if (same) reportOperation(`${path} is also the path of ${operationLabel(same.id)}; give it another`);
      byRoute.set(route, operation);
    }
  }
  if (isWhole) reportSuccessors(operations, report);
  return operations;
}

/**
 * True if a path contains the segment `.` or `..`. Clients remove such segments before they send a request (RFC 3986,
 * section 5.2.4).
 */
export const hasDots = (path: string): boolean => path.split('/').some((part) => part === '.' || part === '..');

/** Returns the reason why the router could never match a path, or undefined if it can. */
function findUnserved(path: string): string | undefined {
  if (path.includes('?')) return `its path ends before ${path.replace(/[^?]*/, '')}`;
  if (path.includes('*'))
    return 'its path has a *, which would match any path: write it as a parameter, such as {name}';
  const decoded = decodePath(path);
  if (decoded === undefined) return 'its path has a % that begins no encoded character: write %25';
  return hasDots(decoded) ? 'its path has a part . or .., which clients remove' : undefined;
}

/** Returns a path as the router compares it: without the names of parameters, and without the text after `?` or `#`. */
const toRoutePath = (path: string) => withoutNames(path.replace(/[?#].*/, ''));

interface Source {
  method: Method;
  path: string;
  item: PathItem;
  source: OperationNode;
}

function toOperation(
  { method, path, item, source }: Source,
  keyLocations: KeyLocations,
  report: ReportProblem,
): Operation {
  const { security = [] } = source;
  const ways = toSecurity(security, keyLocations, reportIn(report, '/security'));
  const sources = [...(item.parameters ?? []), ...(source.parameters ?? [])];
  const parameters = toParameters(path, sources.filter(isNoKey(ways)), method === 'get' && hasLinks(source), report);
  const replies = Object.entries(source.responses ?? {}).map(([status, response]) =>
    toReply(status, response, reportIn(report, toPointerOf('responses', status))),
  );
  if (parameters.some(({ keptHours }) => keptHours !== undefined)) reportRepeated(replies, report);
  return {
    id: source.operationId as string,
    method: method.toUpperCase(),
    path,
    parameters,
    body: toBody(source.requestBody, reportIn(report, '/requestBody')),
    replies,
    security: ways,
    isKeyOptional: security.some((requirement) => Object.keys(requirement).length === 0),
    deprecation: toDeprecation(source, report),
  };
}

/** Returns the JSON Pointer to the schema for this media type, starting at the request body or the response. */
const toSchemaPointer = (type: string) => toPointerOf('content', type, 'schema');

/** True if a reply with a 2xx status declares the header `Link`, which leads to the next page of a list. */
const hasLinks = ({ responses = {} }: OperationNode): boolean =>
  Object.entries(responses).some(
    ([status, { headers = {} }]) =>
      status.startsWith('2') && Object.keys(headers).some((name) => name.toLowerCase() === 'link'),
  );

function toReply(status: string, { content = {}, headers = {} }: ResponseNode, report: ReportProblem): Reply {
  const name = `response ${status}`;
  const types = toTypes(content, name, report);
  const problems = new Map<string, string | undefined>();
  const [first = { type: PLAIN_JSON, media: {} }] = types;
  // The media type that is sent unless the handler chooses another one.
  const usual = types.find(({ type }) => isJson(type)) ?? first;
  const inType = ({ type, media }: typeof usual): Reply => {
    // The server does not check bodies of any other type than JSON and the usual type, so it ignores their schemas.
    const own = type === usual.type || isJson(type) ? media?.schema : undefined;
    const schema = withoutFields('writeOnly', own ?? {});
    const reportBody = reportIn((words, pointer) => problems.set(words, pointer), toSchemaPointer(type));
    const int64s = findInt64s(schema, `${name}: body`, reportBody);
    return { status, type, hasContent: types.length > 0, isJson: isJson(type), schema, int64s, headers, others: [] };
  };
  const others = types.filter(({ type }) => type !== usual.type);
  const reply = { ...inType(usual), others: others.map(inType) };
  for (const [words, pointer] of problems) report(words, pointer);
  return reply;
}

/**
 * Reports replies with several media types in operations with an Idempotency-Key. A handler chooses the type by the
 * header `Accept`, so the repeated request could get another type than the first one.
 */
function reportRepeated(replies: Reply[], report: ReportProblem): void {
  for (const { status, others } of replies) {
    if (/^[23]/.test(status) && others.length > 0)
      report(
        `response ${status}: has several types, and x-idempotency-hours could not repeat the one that was sent`,
        toPointerOf('responses', status),
      );
  }
}

/**
 * Reads the media types of a request's body. If the server cannot check the schema of a type, but the body also allows
 * JSON, the type is left out, and requests with it are answered with 415. Without JSON, such a type is a build error.
 */
function toBody(source: BodyNode | undefined, report: ReportProblem): Body | undefined {
  if (!source) return undefined;
  const { required = false, content, 'x-max-bytes': ownMaxBytes } = source;
  const types = toTypes(content, 'its body', report);
  const hasJson = types.some(({ type }) => isJson(type));
  const contents = types.flatMap(({ type, media: { schema: own = {}, encoding } }): Content[] => {
    const schema = withoutFields('readOnly', own);
    const kind = bodyKindOf(type, schema);
    const reportSchema = reportIn(report, toSchemaPointer(type));
    const problems: Parameters<ReportProblem>[] = [];
    const note: ReportProblem = (...problem) => problems.push(problem);
    if (kind === 'bytes') reportRawBody(schema, type, 'its body', note);
    if (kind === 'form') reportForm(schema, encoding, note);
    if (problems.length > 0 && hasJson) return [];
    for (const problem of problems) reportSchema(...problem);
    findInt64s(schema, 'body', reportSchema);
    return [{ type, kind, schema, ...(kind === 'form' && { encoding }) }];
  });
  const isJsonOnly = contents.every(({ kind }) => kind === 'json');
  return { required, maxBytes: ownMaxBytes ?? (isJsonOnly ? undefined : MAX_BYTES), contents };
}

/**
 * Reports an `x-successor` if its path contains parameters: the server sends the URL of the successor without filling
 * in values.
 */
function reportSuccessors(operations: Map<string, Operation>, report: ReportProblem): void {
  for (const operation of operations.values()) {
    const { successor: id } = operation.deprecation ?? {};
    if (id === undefined) continue;
    const successor = operations.get(id);
    const words = 'x-successor must be the operationId of one whose path has no parameters';
    if (!successor || namesIn(successor.path).length > 0) reportInOperation(report, operation)(words, '/x-successor');
  }
}
