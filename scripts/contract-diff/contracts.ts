/** Compares two versions of the contract: what has changed, and what each change does to clients. */
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import {
  type Change,
  compareLists,
  describe,
  type Effect,
  FINE,
  MISSING,
  pairs,
  READ,
  REFUSED,
  RENAMED,
  SOONER,
  UNEXPECTED,
  UNKNOWN,
} from './change.ts';
import { expandContract, type Json, NAME } from './expand.ts';
import { byKey, type Changes, growing, ignored, named, type Rule, required, value } from './rules.ts';
import { atMost, compareSchemas, schema } from './schemas.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
const NO_KEY = 'no key';
const DEPRECATION = ['deprecated', 'x-deprecated-at', 'x-sunset', 'x-successor'];

const body = (place: string) => `${place} body`;
const always = (effect: Effect) => value(() => effect);

const content: Rule = function* (before, after, place, direction) {
  for (const [type, old, now] of pairs(before, after)) {
    if (old && now) yield* byKey({ schema })(old, now, place, direction, '');
    else if (now) yield { place, what: `content type ${type} was added`, effect: FINE };
    else yield { place, what: `content type ${type} was removed`, effect: direction === 'request' ? REFUSED : MISSING };
  }
};

const RESPONSE = byKey({
  headers: function* (before, after, place, direction, key) {
    const headers = named((there, name) => `${there} header ${name}`, byKey({ required, schema }));
    yield* headers(toLowerCase(before), toLowerCase(after), place, direction, key);
  },
  links: named((place, name) => `${place} link ${name}`, byKey({}, MISSING)),
  content: (before, after, place, direction, key) => content(before, after, body(place), direction, key),
});

const OPERATION = byKey({
  operationId: always(RENAMED),
  tags: growing(RENAMED),
  deprecation: function* (before, after, place) {
    yield* compareDeprecations(before, after, place);
  },
  security: value((before, after) => {
    const { lost, gained } = compareLists(before, after);
    if (!lost.every((way) => after.some((now: string) => asksLess(now, way)))) return REFUSED;
    return lost.length + gained.length > 0 ? FINE : undefined;
  }),
  parameters: named(
    (place, name) => `${place} ${name}`,
    byKey({ required, schema, 'x-opaque': required, 'x-kept-hours': atMost }),
  ),
  requestBody: named(body, byKey({ required, 'x-max-bytes': atMost, content })),
  responses: function* (before, after, place) {
    yield* compareResponses(before, after, place);
  },
});

const SERVER = byKey({
  url: ignored,
  variables: function* (before, after, place) {
    for (const [name, old, now] of pairs(before, after)) {
      yield* byKey({}, MISSING)(old, now, `${place}: variable ${name}`, 'request', '');
    }
  },
});

const CONTRACT = byKey({
  openapi: value((before, after) => {
    const release = (version: Json) => String(version).split('.', 2).join('.');
    return release(before) === release(after) ? undefined : UNEXPECTED;
  }),
  info: byKey({}, READ),
  tags: always(READ),
  servers: compareServers,
  security: ignored,
  paths: ignored,
  components: ignored,
});

/** A contract as it is compared: its integers are bigint, since two large ones that differ could be the same double. */
export const readContract = (yaml: string): Json => parse(yaml, { intAsBigInt: true });

/** The changes from one contract to the other. `today` (2026-11-20) decides whether a deprecated operation may go. */
export function compareContracts(before: Json, after: Json, today: string): Change[] {
  const [old, now] = [expandContract(before), expandContract(after)];
  // Whether the version fits is for the gate to say.
  old.info.version = now.info.version;
  const changes = [
    ...CONTRACT(old, now, 'contract', 'request', ''),
    ...compareOperations(old, now, today),
    ...compareSchemes(old, now),
  ];
  if (changes.length === 0 && !isDeepStrictEqual(old, now)) {
    changes.push({ place: 'contract', what: 'is arranged in another way', effect: READ });
  }
  return changes;
}

/** The changes of the schema Pet that some of the stored pets may not fit. */
export function compareStoredPets(before: Json, after: Json): Change[] {
  // A pet is stored with the fields that it has a column for, and no other.
  const toStored = (contract: Json) => {
    const { [NAME]: _name, properties = {}, ...pet } = expandContract(contract).components?.schemas?.Pet ?? {};
    // Read-only fields are stored as all others.
    const fields = Object.entries<Json>(properties).map(([name, field]) => [
      name,
      field && { ...field, readOnly: false },
    ]);
    return { ...pet, properties: Object.fromEntries(fields), additionalProperties: false };
  };
  const changes = [...compareSchemas(toStored(before), toStored(after), 'stored pets', 'request')];
  return changes.filter(({ effect }) => effect === REFUSED || effect === UNKNOWN);
}

function* compareOperations(before: Json, after: Json, today: string): Changes {
  for (const [name, old, now] of pairs(toOperations(before), toOperations(after))) {
    if (old && now) yield* OPERATION(old, now, old.operationId, 'request', '');
    else if (now) yield { place: now.operationId, what: `was added, as ${name}`, effect: FINE };
    else {
      const isOver = old.deprecation.deprecated && old.deprecation['x-sunset'] <= today;
      yield { place: old.operationId, what: `was removed from ${name}`, effect: isOver ? FINE : MISSING };
    }
  }
  const PATH = byKey(Object.fromEntries([...METHODS, 'parameters'].map((key) => [key, ignored])));
  for (const [path, old = {}, now = {}] of pairs(before.paths, after.paths)) yield* PATH(old, now, path, 'request', '');
}

/** The operations by method and path, each with what it takes over from its path and from the contract. */
function toOperations({ paths, security }: Json): Json {
  const entries = Object.entries<Json>(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => {
      const operation = { security, ...item[method] };
      const { requestBody } = operation;
      const parameters = [item, operation].flatMap((source) => source.parameters ?? []);
      const judged = {
        ...operation,
        deprecation: Object.fromEntries(DEPRECATION.map((key) => [key, operation[key]])),
        security: toWaysIn(operation.security),
        parameters: Object.fromEntries(parameters.map((item) => [`${item.in}.${item.name}`, item])),
        requestBody: requestBody ? { body: requestBody } : {},
      };
      for (const key of DEPRECATION) delete judged[key];
      return [`${method.toUpperCase()} ${path}`, judged];
    }),
  );
  return Object.fromEntries(entries);
}

function* compareDeprecations(before: Json, after: Json, place: string): Changes {
  const { deprecated, 'x-sunset': sunset } = before;
  const isShorter = after['x-sunset'] < sunset || (after['x-sunset'] && !sunset);
  if (Boolean(deprecated) !== Boolean(after.deprecated)) {
    const what = after.deprecated ? `is deprecated, until ${after['x-sunset']}` : 'is no longer deprecated';
    yield { place, what, effect: after.deprecated ? FINE : SOONER };
  } else
    yield* byKey({ deprecated: ignored, 'x-sunset': always(isShorter ? SOONER : FINE) }, FINE)(
      before,
      after,
      place,
      'request',
      '',
    );
}

/** Each requirement is a way in, by all the schemes that it names. An operation that has none is open to everyone. */
/** Whether whoever came in one way comes in the other, too: it needs no other scheme or scope. */
const asksLess = (now: string, before: string) =>
  now === NO_KEY || now.split(' ').every((word) => before.split(' ').includes(word));

function toWaysIn(requirements: Json[] = []): string[] {
  const ways = requirements.map((requirement) =>
    Object.entries<Json>(requirement)
      .map(([scheme, scopes]) => [scheme, ...scopes].join(' '))
      .join(' and '),
  );
  return ways.length > 0 ? ways.map((way) => way || NO_KEY) : [NO_KEY];
}

function* compareResponses(before: Json, after: Json, operation: string): Changes {
  for (const [status, old, now] of pairs(before, after)) {
    const place = `${operation} ${status}`;
    if (old && now) yield* RESPONSE(old, now, place, 'response', '');
    else if (!now) yield { place, what: 'was removed', effect: MISSING };
    else if (!/^([45]|default)/.test(status)) yield { place, what: 'was added', effect: UNEXPECTED };
    else {
      // RFC 9110, section 15: a client takes a status that it does not know for the x00 of its class.
      yield { place, what: 'was added', effect: FINE };
      if (!before.default) continue;
      // Up to now, such a reply was the general one.
      const changes = content(before.default.content, now.content, body(place), 'response', '');
      yield* [...changes].filter(({ effect }) => effect.verdict === 'breaking');
    }
  }
}

/** The names of headers are the same in any case (RFC 9110, section 5.1). */
function toLowerCase(headers: Json = {}): Json {
  return Object.fromEntries(Object.entries(headers).map(([name, header]) => [name.toLowerCase(), header]));
}

/** The environments that clients know, and the one path prefix that all share. */
function* compareServers(before: Json[] = [], after: Json[] = []): Changes {
  const [was, is] = [prefixesOf(before).join(', '), prefixesOf(after).join(', ')];
  if (was !== is) yield { place: 'servers', what: describe('path prefix', was, is), effect: MISSING };
  const byOrigin = (servers: Json[]) =>
    Object.fromEntries(servers.map((server) => [splitUrl(server.url).origin, server]));
  const servers = named((_, origin) => `server ${origin || 'of this document'}`, SERVER);
  yield* servers(byOrigin(before), byOrigin(after), '', 'response', '');
}

/** The path prefixes of the servers: `/v1` once, when they agree. */
export function prefixesOf(servers: Json[] = []): string[] {
  return [...new Set(servers.map(({ url }) => splitUrl(url).prefix))];
}

/** `{origin}/v1`, `https://host/v1` and `/v1` have the prefix `/v1`. */
function splitUrl(url: string): { origin: string; prefix: string } {
  const [origin = ''] = url.match(/^([a-z]+:\/\/[^/]+|\{\w+\})/) ?? [];
  return { origin, prefix: url.slice(origin.length) };
}

/** What is used of the other components has been compared where it is used. */
function* compareSchemes(before: Json, after: Json): Changes {
  for (const [name, old, now] of pairs(before.components?.securitySchemes, after.components?.securitySchemes)) {
    if (old && now) yield* byKey({}, REFUSED)(old, now, `security scheme ${name}`, 'request', '');
  }
}
