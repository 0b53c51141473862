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
import { decodePath } from '../../engine/contract/path-names.ts';
import { isJson, PLAIN_JSON } from '../../engine/contract/replies.ts';
import type { Refuse } from '../../engine/schema/json.ts';
import { withoutFields } from '../schema/directions.ts';
import { findInt64s } from '../schema/int64-checks.ts';
import { checkForm, checkRawBody, kindOf, toTypes } from './bodies.ts';
import { toDeprecation } from './keywords.ts';
import { checkLinks, checkSuccessors } from './links.ts';
import { withoutNames } from './normal-form.ts';
import { toParameters } from './parameters.ts';
import { isNoKey, type KeyPlaces, toSecurity } from './security.ts';
import { isValidOperation } from './validity.ts';

/** The default size limit of bodies, the same as Fastify's for JSON. */
export const MAX_BYTES = 1_048_576;

/** An operation's name in problems. */
export const nameOf = (id: string) => `operation ${id}`;

interface Options {
  resolved: ResolvedDocument;
  /** The ids of operations that could not be resolved. */
  refused: Set<string | undefined>;
  keyPlaces: KeyPlaces;
  isComplete: boolean;
}

export function toOperations(
  { resolved, refused, keyPlaces, isComplete }: Options,
  refuse: Refuse,
): Map<string, Operation> {
  const operations = new Map<string, Operation>();
  const byRoute = new Map<string, Operation>();
  let isWhole = true;
  for (const [path, item] of Object.entries(resolved.paths)) {
    for (const [method, { ...source }] of operationsOf(item)) {
      source.security ??= resolved.security ?? [];
      const refuseOwn = (problem: string) => refuse(`${nameOf(source.operationId as string)}: ${problem}`);
      // Nothing can be made of it, and others are judged without it.
      if (refused.has(source.operationId) || !isValidOperation(item, source, refuseOwn)) {
        isWhole = false;
        continue;
      }
      const operation = toOperation({ method, path, item, source }, keyPlaces, refuse);
      operations.set(operation.id, operation);
      const route = `${method} ${toRoutePath(path)}`;
      const problem = method === 'trace' ? 'TRACE is not served' : findUnserved(path);
      if (problem) refuse(`${nameOf(operation.id)}: ${problem}`);
      const same = byRoute.get(route);
      if (same) refuse(`${nameOf(operation.id)}: ${path} is the path of ${nameOf(same.id)}, too; give it another`);
      byRoute.set(route, operation);
    }
  }
  if (isWhole) checkSuccessors(operations, refuse);
  if (isWhole && isComplete) checkLinks(resolved, operations, refuse);
  return operations;
}

/** Why no router would find a path, in words; undefined if it would. */
function findUnserved(path: string): string | undefined {
  if (path.includes('?')) return `its path ends before ${path.replace(/[^?]*/, '')}`;
  if (path.includes('*'))
    return 'its path has a *, which would stand for anything: write it as a parameter, such as {name}';
  return decodePath(path) === undefined ? 'its path has a % that begins no encoded character: write %25' : undefined;
}

/** Paths that differ only in names of parameters, or after `?` or `#`, are the same. */
const toRoutePath = (path: string) => withoutNames(path.replace(/[?#].*/, ''));

interface Source {
  method: Method;
  path: string;
  item: PathItem;
  source: OperationNode;
}

function toOperation({ method, path, item, source }: Source, keyPlaces: KeyPlaces, refuseAny: Refuse): Operation {
  const id = source.operationId as string;
  const refuse = (problem: string) => refuseAny(`${nameOf(id)}: ${problem}`);
  const { security = [] } = source;
  const ways = toSecurity(security, keyPlaces, refuse);
  const sources = [...(item.parameters ?? []), ...(source.parameters ?? [])];
  const parameters = toParameters(path, sources.filter(isNoKey(ways)), refuse);
  const replies = Object.entries(source.responses ?? {}).map(([status, response]) => toReply(status, response, refuse));
  if (parameters.some(({ keptHours }) => keptHours !== undefined)) checkRepeated(replies, refuse);
  return {
    id,
    method: method.toUpperCase(),
    path,
    parameters,
    body: toBody(source.requestBody, refuse),
    replies,
    security: ways,
    isKeyOptional: security.some((requirement) => Object.keys(requirement).length === 0),
    deprecation: toDeprecation(source, refuse),
  };
}

function toReply(status: string, { content = {}, headers = {} }: ResponseNode, refuse: Refuse): Reply {
  const name = `response ${status}`;
  const types = toTypes(content, name, refuse);
  const problems = new Set<string>();
  const [first = { type: PLAIN_JSON, media: {} }] = types;
  // Sent where the handler chooses no type.
  const usual = types.find(({ type }) => isJson(type)) ?? first;
  const inType = ({ type, media }: typeof usual): Reply => {
    // The schema of another type than JSON is not read.
    const own = type === usual.type || isJson(type) ? media?.schema : undefined;
    const schema = withoutFields('writeOnly', own ?? {});
    const int64s = findInt64s(schema, `${name}: body`, (problem) => problems.add(problem));
    return { status, type, hasContent: types.length > 0, isJson: isJson(type), schema, int64s, headers, others: [] };
  };
  const others = types.filter(({ type }) => type !== usual.type);
  const reply = { ...inType(usual), others: others.map(inType) };
  problems.forEach(refuse);
  return reply;
}

/** A handler chooses the type by each request's own `Accept`: a repeated request could get another than the first. */
function checkRepeated(replies: Reply[], refuse: Refuse): void {
  for (const { status, others } of replies) {
    if (/^[23]/.test(status) && others.length > 0)
      refuse(
        `response ${status}: has several types, of which x-idempotency-hours could not repeat the one that was sent`,
      );
  }
}

/** If JSON is among the types, types that could not be checked are not accepted (415). */
function toBody(source: BodyNode | undefined, refuse: Refuse): Body | undefined {
  if (!source) return undefined;
  const { required = false, content, 'x-max-bytes': ownMaxBytes } = source;
  const types = toTypes(content, 'its body', refuse);
  const hasJson = types.some(({ type }) => isJson(type));
  const contents = types.flatMap(({ type, media: { schema: own = {}, encoding } }): Content[] => {
    const schema = withoutFields('readOnly', own);
    const kind = kindOf(type, schema);
    const problems: string[] = [];
    const note = (problem: string) => problems.push(problem);
    if (kind === 'bytes') checkRawBody(schema, type, 'its body', note);
    if (kind === 'form') checkForm(schema, encoding, note);
    if (problems.length > 0 && hasJson) return [];
    problems.forEach(refuse);
    findInt64s(schema, 'body', refuse);
    return [{ type, kind, schema, ...(kind === 'form' && { encoding }) }];
  });
  const isJsonOnly = contents.every(({ kind }) => kind === 'json');
  return { required, maxBytes: ownMaxBytes ?? (isJsonOnly ? undefined : MAX_BYTES), contents };
}
