/** Generates requests from a contract, each with what a server that follows the contract must reply. */
import fc, { type Arbitrary } from 'fast-check';
import { parse } from 'yaml';
import { fieldsOf, toObject } from '../properties/json-values.ts';
import { type Json, type Operation, readOperations } from '../properties/operations.ts';
import { parameterValues } from '../properties/parameter-values.ts';
import { refusalsOf } from '../properties/refusals.ts';
import { type Request, requests, toHeaders, toUrl } from '../properties/requests.ts';

export interface Probe {
  /** Undefined if the probe belongs to no operation of the contract. */
  operation?: string;
  method: string;
  url: string;
  body?: Request['body'];
  headers: Record<string, string>;
  key: 'valid' | 'powerless' | 'limited' | 'unknown' | 'none';
  /** The failure of the store: it cannot be reached, or it has a bug. */
  store?: 'down' | 'broken';
  expect: {
    /** The expected status, as a regular expression; by default, any status below 500. */
    status?: string;
    /** Whether a rule of the contract refuses the request, so that no handler may be called. */
    isRefused?: boolean;
    /** A text that the body must contain. */
    shows?: string;
    /** A URL that must have the same reply. */
    sameAs?: string;
    /**
     * The parameter that the reply must depend on: of the probes that name it, at least two must have different
     * replies.
     */
    dependsOn?: string;
    /** Headers with their exact values; null for a header that must be absent. */
    headers?: Record<string, string | null>;
  };
}

const METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'PATCH'];
const SERVED = '2..|404';
/** The statuses of an operation with an Idempotency-Key, which another probe may have used already. */
const SERVED_OR_USED = '2..|404|422';
const MORE_THAN_A_PAGE = 25;

/** Longer than any server accepts. */
const LONG = 'x'.repeat(20_000);

/**
 * The probes are always the same for the same contract. The first ones find an empty store, the others more records
 * than a page has.
 */
export function probesOf(yaml: string): Probe[] {
  const operations = readOperations(yaml);
  const { info, paths } = parse(yaml);
  const sources = Object.values<Json>(paths).flatMap((item) => Object.values<Json>(item));
  return [
    ...operations.flatMap((operation) => madeFor(operation).slice(0, MORE_THAN_A_PAGE)),
    ...operations.flatMap((operation) => [
      ...madeFor(operation),
      ...depending(operation),
      ...headed(operation, operations, info, sources),
      ...failing(operation),
      ...misused(operation, operations),
    ]),
  ];
}

const known = new Map<string, Probe[]>();

/**
 * The probes of an operation. They are cached, because most edits change few operations. The server must accept the
 * first ones.
 */
function madeFor({ responses: _, ...rest }: Operation): Probe[] {
  const key = JSON.stringify(rest);
  const operation = { ...rest, responses: {} };
  const make = () => [
    ...accepted(operation),
    ...repeated(operation),
    ...unjudged(operation),
    ...defaulted(operation),
    ...refused(operation),
  ];
  const probes = known.get(key) ?? make();
  known.set(key, probes);
  return probes;
}

const sample = <T>(cases: Arbitrary<T>, numRuns: number): T[] => fc.sample(cases, { numRuns, seed: 1 });

const plainFor = (operation: Operation) => madeFor(operation)[0] as Probe;

function toProbe(request: Request, expect: Probe['expect']): Probe {
  const { operation, body } = request;
  const { id, method } = operation;
  return {
    operation: id,
    method,
    url: toUrl(request),
    body,
    headers: toHeaders(request) as Record<string, string>,
    key: 'valid',
    expect,
  };
}

function accepted(operation: Operation): Probe[] {
  const status = operation.parameters.some(({ isKept }) => isKept) ? SERVED_OR_USED : SERVED;
  return sample(requests(operation), MORE_THAN_A_PAGE).map((request) => toProbe(request, { status }));
}

/** The same request twice with the same Idempotency-Key, and then another request with that key. */
function repeated(operation: Operation): Probe[] {
  const kept = operation.parameters.find(({ isKept }) => isKept);
  if (!kept) return [];
  const [key] = sample(parameterValues(kept), 10).slice(-1);
  const [one, other] = sample(requests(operation, kept), 2) as [Request, Request];
  return [one, one, other].map((request) =>
    toProbe({ ...request, header: [...request.header, [kept.name, key as string]] }, { status: SERVED_OR_USED }),
  );
}

function refused(operation: Operation): Probe[] {
  return (
    refusalsOf(withoutOpaque(operation))
      // Injected requests cannot repeat a header: headers of the same name are joined.
      .filter(({ rule }) => !/^header\..* repeated$/.test(rule))
      .flatMap((refusal) => sample(refusal.requests, 8))
      .map(({ request, status, place }) => {
        const shows = JSON.stringify(`${place} `).slice(1, -1);
        // A body that is not JSON is only checked while the handler reads it.
        const isRefused = request.body === undefined || /json/.test(String(toHeaders(request)['content-type']));
        return toProbe(request, { status: String(status), isRefused, shows });
      })
  );
}

/**
 * Makes probes with values that clients cannot invent: ids that the server has given, and values of opaque parameters.
 */
function unjudged(operation: Operation): Probe[] {
  const given = sample(requests(operation), MORE_THAN_A_PAGE).map(({ path, ...request }, index) => {
    return { ...request, path: path.map(([name]): [string, string] => [name, String(index + 1)]) };
  });
  const isOpaque = operation.parameters.some((parameter) => parameter.isOpaque);
  const opaque = isOpaque ? sample(requests(withoutOpaque(operation)), MORE_THAN_A_PAGE) : [];
  return [...given, ...opaque].map((request) => toProbe(request, {}));
}

/**
 * With these, opaque parameters are treated like others. Their values fit the schema, but the server has not given
 * them, so handlers refuse them.
 */
function withoutOpaque({ parameters, ...operation }: Operation): Operation {
  return { ...operation, parameters: parameters.map((parameter) => ({ ...parameter, isOpaque: false })) };
}

/**
 * A request without a parameter must have the same reply as one with the parameter's default. If a field of the body is
 * left out, the reply must show its default.
 */
function defaulted(operation: Operation): Probe[] {
  const { method, parameters, body } = operation;
  const [plain] = sample(requests(operation), 1) as [Request];
  const isNew = ([name]: [string, unknown]) =>
    !parameters.some((parameter) => parameter.isKept && parameter.name === name);
  const request = { ...plain, header: plain.header.filter(isNew) };
  const isFilled = ({ in: place, required, schema }: Json) => place === 'query' && !required && 'default' in schema;
  const ofQuery = parameters.filter(isFilled).map(({ name, schema }) => {
    const query = request.query.filter(([other]) => other !== name);
    const sameAs = toUrl({ ...request, query: [...query, [name, toText(schema.default)]] });
    return toProbe({ ...request, query }, method === 'GET' ? { sameAs } : {});
  });
  const { properties = {}, required = [] } = body?.schema ?? {};
  const fields = Object.keys(properties).filter((name) => 'default' in properties[name] && !required.includes(name));
  const ofBody = fields.map((name) => {
    const [json] = sample(fieldsOf(body?.schema, [name]).map(toObject), 1);
    const shows = `${JSON.stringify(name)}:${JSON.stringify(properties[name].default)}`;
    return toProbe({ ...request, body: json }, { status: SERVED, shows });
  });
  return [...ofQuery, ...ofBody];
}

const toText = (value: Json) => (Array.isArray(value) ? value.map(String) : String(value));

/** Makes probes with and without each optional parameter, to find parameters that the server accepts and ignores. */
function depending(operation: Operation): Probe[] {
  if (operation.method !== 'GET') return [];
  const [plain] = sample(requests(operation), 1) as [Request];
  const path = plain.path.map(([name]): [string, string] => [name, '1']);
  const isNeeded = ([name]: [string, unknown]) => operation.parameters.some((one) => one.name === name && one.required);
  const needed = { ...plain, query: plain.query.filter(isNeeded), header: plain.header.filter(isNeeded) };
  return operation.parameters
    .filter((parameter) => ['query', 'header'].includes(parameter.in) && !parameter.required)
    .flatMap((parameter) => {
      const place = parameter.in as 'query' | 'header';
      const isOther = (value: string | string[]) => String(value) !== String(parameter.schema.default);
      const values = sample(parameterValues(parameter), 8).filter(isOther);
      if (values.length === 0) return [];
      const sent = values.map((value): [string, string | string[]][] => [[parameter.name, value]]);
      return [[], ...sent].map((given) =>
        toProbe(
          { ...needed, path, [place]: [...needed[place], ...given] },
          { dependsOn: `${place}.${parameter.name}` },
        ),
      );
    });
}

/**
 * Checks headers that repeat what the contract says: the deprecation, and the challenge to requests without an API key
 * or without a scope (RFC 6750, section 3).
 */
function headed(operation: Operation, operations: Operation[], { title }: Json, sources: Json[]): Probe[] {
  const source = sources.find(({ operationId }) => operationId === operation.id);
  const successor = operations.find(({ id }) => id === source['x-successor']);
  const deprecation = toDeprecation(source, successor?.path);
  const plain = plainFor(operation);
  const challenge = `Bearer realm="${title}"`;
  const refused = (status: string, key: Probe['key'], header: string): Probe => {
    const headers = { ...deprecation, 'www-authenticate': header };
    return { ...plain, key, expect: { status, isRefused: true, headers } };
  };
  const shown: Probe = { ...plain, expect: { headers: deprecation } };
  if (!operation.isSecured) return [shown, { ...plain, key: 'none' }];
  const scope = operation.scopes.join(' ');
  const lacking = refused('403', 'powerless', `${challenge}, error="insufficient_scope", scope="${scope}"`);
  return [
    shown,
    refused('401', 'none', challenge),
    refused('401', 'unknown', `${challenge}, error="invalid_token"`),
    scope ? lacking : { ...plain, key: 'powerless' },
  ];
}

/** The headers of RFC 9745 and RFC 8594, and the link relation of RFC 5829. */
function toDeprecation(source: Json, successor: string | undefined): Record<string, string | null> {
  const { 'x-deprecated-at': at, 'x-sunset': sunset }: Json = source.deprecated ? source : {};
  return {
    deprecation: at ? `@${Date.parse(at) / 1000}` : null,
    sunset: sunset ? new Date(sunset).toUTCString() : null,
    ...(source.deprecated && successor && { link: `<${successor}>; rel="successor-version"` }),
  };
}

/** Failures that do not depend on the request: their replies show the body and the headers of `default`. */
function failing(operation: Operation): Probe[] {
  const plain = plainFor(operation);
  return [
    { ...plain, store: 'down', expect: { status: '503' } },
    { ...plain, store: 'broken', expect: { status: '500' } },
    { ...plain, url: `${plain.url}?${LONG}`, expect: { status: '414', isRefused: true } },
    ...(operation.isSecured ? limited(operation) : []),
  ];
}

/** The limit of this API key is one request a day, so the second request is refused, whatever the first one was. */
function limited(operation: Operation): Probe[] {
  const probe: Probe = { ...plainFor(operation), key: 'limited', expect: {} };
  return [probe, { ...probe, expect: { status: '429', isRefused: true } }];
}

/**
 * A method that the path does not have is answered with 405, and with the methods that it has (RFC 9110, section
 * 15.5.6). A path with GET also has HEAD.
 */
function misused(operation: Operation, operations: Operation[]): Probe[] {
  const taken = [...new Set(operations.filter(({ path }) => path === operation.path).map(({ method }) => method))];
  const allow = [...taken, ...(taken.includes('GET') ? ['HEAD'] : [])].sort().join(', ');
  const { url } = plainFor(operation);
  const expect = { status: '405', isRefused: true, headers: { allow } };
  const others = METHODS.filter((method) => !taken.includes(method));
  return others.map((method) => ({ method, url, headers: {}, key: 'valid', expect }));
}
