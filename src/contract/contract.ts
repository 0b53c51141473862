/**
 * The contract: `openapi/petstore.yaml`, read once, as the operations that the server is wired from. Whatever the server
 * could not keep, it refuses here, naming every problem at once.
 */
import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { stringify } from 'lossless-json';
import { parseDocument } from 'yaml';
import { isInt64Schema } from '../json/int64.ts';

// biome-ignore lint/suspicious/noExplicitAny: a JSON Schema, or any other node of the contract, is any JSON.
export type Json = any;

export interface Parameter {
  name: string;
  in: 'path' | 'query';
  required: boolean;
  schema: Json;
}

export interface Deprecation {
  /** When the operation was deprecated. */
  at: Date;
  /** When it will be removed. */
  sunset: Date;
  /** The operationId of what to use instead. */
  successor: string;
}

export interface Operation {
  id: string;
  /** In capitals: `GET`. */
  method: string;
  /** As the contract has it, below the prefix: `/pets/{petId}`. */
  path: string;
  parameters: Parameter[];
  /** The largest body in bytes, the schema of the body, and whether there must be one. */
  body: { required: boolean; maxBytes: number | undefined; schema: Json } | undefined;
  /** False where the contract lifts the requirement of a key with `security: []`. */
  secured: boolean;
  deprecation: Deprecation | undefined;
}

export interface Contract {
  /** The file, byte for byte. */
  yaml: Buffer;
  /** The same as JSON, every digit kept. */
  json: string;
  /** The same as an object, references in place. */
  document: Json;
  title: string;
  /** What stands before every path: `/v1`. */
  prefix: string;
  operations: Map<string, Operation>;
}

export class ContractError extends Error {
  override name = 'ContractError';
  readonly problems: string[];

  constructor(problems: string[]) {
    super(`The contract cannot be served:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
const PARAMETER_TYPES = ['string', 'integer', 'number', 'boolean'];
const MEDIA_TYPE = 'application/json';
/** Compiles the schema of OpenAPI once, which takes longer than all else here. */
const VALIDATOR = new Validator();
const CONTRACT = new URL('openapi/petstore.yaml', import.meta.resolve('#package'));

/** @throws ContractError */
export async function loadContract(file: URL | string = CONTRACT): Promise<Contract> {
  const yaml = readFileSync(file);
  const source = parseDocument(yaml.toString('utf8'), { intAsBigInt: true });
  if (source.errors.length > 0) throw new ContractError(source.errors.map((error) => error.message));
  const exact = source.toJS();
  const json = stringify(exact) as string;
  const document = JSON.parse(json);

  const validity = await VALIDATOR.validate(document);
  if (!validity.valid) throw new ContractError(describeInvalidity(validity.errors));
  const resolved = new Validator().resolveRefs({ specification: structuredClone(document) }) as Json;

  const problems: string[] = [];
  const operations = new Map<string, Operation>();
  for (const [path, item] of Object.entries<Json>(resolved.paths ?? {})) {
    for (const method of METHODS.filter((name) => item[name])) {
      const operation = toOperation(method, path, item, resolved, problems);
      if (operations.has(operation.id)) problems.push(`operationId ${operation.id} stands twice`);
      operations.set(operation.id, operation);
    }
  }
  for (const { id, deprecation } of operations.values()) {
    const successor = deprecation && operations.get(deprecation.successor);
    if (deprecation && (!successor || successor.path.includes('{'))) {
      problems.push(`operation ${id}: needs x-successor, the operationId of one whose path has no parameters`);
    }
  }
  checkNumbers(exact, '#', problems);
  checkSecuritySchemes(resolved, problems);
  const prefix = toPrefix(document.servers, problems);
  if (problems.length > 0) throw new ContractError(problems);
  return { yaml, json, document, title: document.info.title, prefix, operations };
}

function describeInvalidity(errors: Json): string[] {
  if (!Array.isArray(errors)) return [String(errors)];
  return [...new Set(errors.map(({ instancePath, message }) => `${instancePath || '/'} ${message}`))];
}

function toOperation(method: string, path: string, item: Json, resolved: Json, problems: string[]): Operation {
  const source = item[method];
  const id: string = source.operationId ?? '';
  const refuse = (problem: string) => problems.push(`operation ${id || `${method} ${path}`}: ${problem}`);
  if (!/^[A-Za-z][A-Za-z0-9]*$/.test(id)) refuse('its operationId is missing or not letters and digits');
  const security: Record<string, string[]>[] = source.security ?? resolved.security ?? [];
  checkSecurity(security, resolved.components?.securitySchemes, refuse);
  return {
    id,
    method: method.toUpperCase(),
    path,
    parameters: toParameters(path, [...(item.parameters ?? []), ...(source.parameters ?? [])], refuse),
    body: toBody(source, refuse),
    secured: security.length > 0,
    deprecation: toDeprecation(source, refuse),
  };
}

function toParameters(path: string, sources: Json[], refuse: (problem: string) => void): Parameter[] {
  const byName = new Map<string, Parameter>();
  for (const { name, in: place, required = false, schema } of sources) {
    if (place !== 'path' && place !== 'query') refuse(`parameter ${name}: in ${place} is not supported`);
    if (!PARAMETER_TYPES.includes(schema?.type)) refuse(`parameter ${name}: needs a schema of one simple type`);
    byName.set(`${place} ${name}`, { name, in: place, required, schema });
  }
  const declared = [...byName.values()].filter((parameter) => parameter.in === 'path').map(({ name }) => name);
  const inPath = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name as string);
  for (const name of inPath) {
    if (!/^\w+$/.test(name)) refuse(`path parameter {${name}} may have letters, digits and _ only`);
    if (!declared.includes(name)) refuse(`path parameter {${name}} is not declared`);
  }
  for (const name of declared) {
    if (!inPath.includes(name)) refuse(`parameter ${name} is not in the path`);
  }
  return [...byName.values()];
}

function toBody(source: Json, refuse: (problem: string) => void): Operation['body'] {
  for (const [status, response] of Object.entries<Json>(source.responses ?? {})) {
    if (!isJson(response.content ?? { [MEDIA_TYPE]: {} }))
      refuse(`response ${status}: only ${MEDIA_TYPE} is supported`);
  }
  if (!source.requestBody) return undefined;
  const { required = false, content, 'x-max-bytes': maxBytes } = source.requestBody;
  if (!isJson(content)) refuse(`its body: only ${MEDIA_TYPE} is supported`);
  return { required, maxBytes, schema: content[MEDIA_TYPE]?.schema ?? {} };
}

const isJson = (content: object) => Object.keys(content).join() === MEDIA_TYPE;

function toDeprecation(source: Json, refuse: (problem: string) => void): Deprecation | undefined {
  if (!source.deprecated) return undefined;
  const at = new Date(source['x-deprecated-at']);
  const sunset = new Date(source['x-sunset']);
  if (Number.isNaN(at.getTime())) refuse('is deprecated, and needs its date: x-deprecated-at');
  if (Number.isNaN(sunset.getTime())) refuse('is deprecated, and needs the date of its removal: x-sunset');
  return { at, sunset, successor: source['x-successor'] };
}

/** A number that a double cannot hold is fine in an example, and could not be kept as a bound. */
function checkNumbers(node: Json, place: string, problems: string[]): void {
  if (typeof node === 'bigint') {
    if (!Number.isSafeInteger(Number(node))) problems.push(`${place}: ${node} is too large to be kept exactly`);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  if (node.format === 'int64' && !isInt64Schema(node)) problems.push(`${place}: int64 needs type: integer alone`);
  for (const keyword of isInt64Schema(node) ? ['enum', 'const', 'multipleOf'] : []) {
    if (keyword in node) problems.push(`${place}: ${keyword} is not supported for int64`);
  }
  for (const [key, value] of Object.entries(node)) {
    if (key !== 'example' && key !== 'examples') checkNumbers(value, `${place}/${key}`, problems);
  }
}

/** A key that may be left out, one among several, or one with scopes would not be checked as the contract says. */
function checkSecurity(
  requirements: Record<string, string[]>[],
  schemes: object = {},
  refuse: (problem: string) => void,
): void {
  for (const requirement of requirements) {
    const [[name, scopes] = ['', []], ...others] = Object.entries(requirement);
    if (!(name in schemes) || scopes.length > 0 || others.length > 0) {
      refuse(`security ${JSON.stringify(requirement)} is not one scheme of components.securitySchemes, without scopes`);
    }
  }
}

function checkSecuritySchemes({ components }: Json, problems: string[]): void {
  for (const [name, { type, scheme }] of Object.entries<Json>(components?.securitySchemes ?? {})) {
    if (type !== 'http' || scheme?.toLowerCase() !== 'bearer') {
      problems.push(`security scheme ${name}: only type http with scheme bearer is supported`);
    }
  }
}

/** The one path that all servers share, whatever their origin: `https://host/v1`, `{origin}/v1` and `/v1` are `/v1`. */
function toPrefix(servers: Json[] | undefined, problems: string[]): string {
  const prefixes = new Set(
    servers?.map(({ url }) => url.replace(/^([a-z]+:\/\/[^/]+|\{\w+\})/, '').replace(/\/$/, '')),
  );
  const found = [...prefixes].filter(Boolean).join(', ');
  if (!/^(\/[\w.-]+)+$/.test(found))
    problems.push(`servers need one path prefix, such as /v1, not: ${found || 'none'}`);
  return found;
}
