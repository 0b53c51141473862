/**
 * Lists differences between the contract and the server's behaviour, and keywords without effect. No other tool reports
 * these.
 */
import { toTypes } from '../../contract/read/bodies.ts';
import { withoutNames } from '../../contract/read/normal-form.ts';
import { toTokenSchemes } from '../../contract/read/security.ts';
import { appliesToOtherTypes, schemasIn } from '../../contract/subsets/keyword-subsets.ts';
import type { Operation, ReadContract } from '../../engine/contract/contract.ts';
import {
  type Document,
  nodesOf,
  type OperationNode,
  operationsOf,
  type ParameterNode,
} from '../../engine/contract/document.ts';
import { namesIn } from '../../engine/contract/path-names.ts';
import { inAllTypes, isJson } from '../../engine/contract/replies.ts';
import type { Keywords, Schema } from '../../engine/schema/json.ts';

/** Matches the statuses of replies without a body (RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5). */
const BODILESS = /^(1..|204|205|304)$/;

/** Returns the notes of a contract, one line each. A note about an operation begins with its id. */
export function findNotes(contract: ReadContract): string[] {
  const { operations, resolved, document, json } = contract;
  const sources = sourcesOf(JSON.parse(json));
  const seen = new Set<unknown>();
  const notes = [...operations.values()].flatMap((operation) => {
    const { item, source } = nodesOf(resolved, operation);
    return [
      ...ofSource(operation, sources),
      ...(source.servers || item.servers ? ['its own servers are not served: it has the path of all others'] : []),
      ...ofBody(source),
      ...ofReplies(source),
      ...schemasOf(operation).flatMap((schema) => [...schemasIn(schema, seen)].flatMap(ofSchema)),
    ].map((note) => `operation ${operation.id}: ${note}`);
  });
  return [...new Set([...ofServer(document), ...notes])];
}

/** Returns a note for each scheme with tokens from another issuer, unless `src/tokens.ts` checks these tokens. */
export function findTokenNotes({ resolved }: ReadContract, verifyToken?: unknown): string[] {
  const schemes = verifyToken === undefined ? toTokenSchemes(resolved) : [];
  return schemes.map(
    (name) =>
      `security scheme ${name}: its tokens are the server's own keys until src/tokens.ts checks them; a start in production needs it`,
  );
}

/** Notes each variable without a default in the path of the first server. */
function ofServer({ servers: [first] = [] }: Document): string[] {
  const path = String(first?.url).replace(/^([a-z][a-z0-9+.-]*:)?\/\/[^/]*/i, '');
  const names = namesIn(path.slice(path.indexOf('/')));
  const missing = names.filter((name) => Object(first?.variables)[name]?.default === undefined);
  return missing.map((name) => `servers: {${name}} has no default: no path begins with it`);
}

/**
 * Returns the operations as the contract has them, by method and path. The names of path parameters are removed from
 * the keys.
 */
function sourcesOf({ paths = {} }: Document): Map<string, OperationNode> {
  const entries = Object.entries(paths).flatMap(([path, item]) =>
    operationsOf(item).map(([method, operation]) => [toName(method, path), operation] as const),
  );
  return new Map(entries);
}

/** Returns the names of parameters that are declared twice. The case of header names does not matter. */
function twiceIn(parameters: ParameterNode[]): string[] {
  const positions = parameters.map(
    ({ in: position, name }) => `${position} ${position === 'header' ? name?.toLowerCase() : name}`,
  );
  return parameters
    .filter(({ name }, index) => name && positions.indexOf(positions[index] as string) < index)
    .map(({ name }) => name);
}

const toName = (method: string, path: string) => `${method.toLowerCase()} ${withoutNames(path)}`;

function ofSource({ id, method, path }: Operation, sources: Map<string, OperationNode>): string[] {
  const { operationId, requestBody, parameters = [] } = sources.get(toName(method, path)) ?? {};
  return [
    ...twiceIn(parameters).map((name) => `parameter ${name} is declared twice: the last one counts`),
    ...(operationId && operationId !== id
      ? [`it is ${operationId} in the contract, which cannot name a file of its own`]
      : []),
    ...(requestBody && /^(GET|HEAD)$/.test(method) ? [`its body is ignored: that of ${method} means nothing`] : []),
  ];
}

function ofBody({ requestBody }: OperationNode): string[] {
  const content = requestBody?.content ?? {};
  const types = new Set(toTypes(content, '', () => {}).map(({ type }) => type));
  const ranges = Object.keys(content).filter((name) => name.includes('*'));
  return ranges.length > 0 ? [`request.body: of ${ranges.join(', ')}, ${[...types].join(', ')} is taken`] : [];
}

function ofReplies({ responses = {} }: OperationNode): string[] {
  return Object.entries(responses).flatMap(([status, { content = {} }]) => {
    const types = toTypes(content, '', () => {}).map(({ type }) => type);
    if (types.length > 0 && BODILESS.test(status))
      return [`response ${status}: its content is never sent: such a reply has no body`];
    const sent = types.find(isJson) ?? types[0];
    return types.length > 1 ? [`response ${status}: of its types, ${sent} is sent where the handler chooses none`] : [];
  });
}

function schemasOf({ parameters, body, replies }: Operation): Schema[] {
  return [...parameters, ...(body?.contents ?? []), ...inAllTypes(replies)].map(({ schema }) => schema);
}

const isAbove = (low: number | bigint = -Infinity, high: number | bigint = Infinity) => low > high;

function ofSchema(schema: Keywords): string[] {
  const { type, minimum, maximum, minLength, maxLength } = schema;
  const crossed = isAbove(minimum, maximum) ? 'minimum' : isAbove(minLength, maxLength) ? 'minLength' : undefined;
  const idle = type ? Object.keys(schema).filter((keyword) => appliesToOtherTypes(keyword, schema)) : [];
  return [
    ...(crossed ? [`no value fits a schema whose ${crossed} is above its ${crossed.replace('min', 'max')}`] : []),
    ...idle.map((keyword) => `${keyword} says nothing about what is of type ${[type].flat().join(' or ')}`),
  ];
}
