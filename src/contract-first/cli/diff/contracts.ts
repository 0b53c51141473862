/** Compares two versions of a contract: lists the changes, each with its effect on clients. */
import { isDeepStrictEqual } from 'node:util';
import { withoutWords } from '../../contract/read/keywords.ts';
import { MAX_BYTES } from '../../contract/read/operations.ts';
import {
  type Document,
  type HeaderNode,
  METHODS,
  type PathItem,
  type ResponseNode,
  ROOT_SERVER,
  type SchemeNode,
  type ServerNode,
  toPathPrefix,
} from '../../engine/contract/document.ts';
import { isNode, keywordsOf, type Schema } from '../../engine/schema/json.ts';
import type { AnyDomain } from '../../store/tables/description.ts';
import { COMPONENT_NAME, expandContract } from './expand.ts';
import {
  type Comparable,
  dropped,
  FIRST,
  inOneVersion,
  isOver,
  NO_KEY,
  operationsByPath,
  SENT_TYPE,
  toComparable,
  toScheme,
  withNamesOf,
  withSchemeNames,
} from './normal.ts';
import { takesFrom } from './paths.ts';
import {
  byKey,
  type CompareRule,
  type ContractChange,
  type ContractChanges,
  compareByName,
  compareLists,
  describeChange,
  type Effect,
  FAILS_REQUESTS,
  FINE,
  FOR_READERS,
  growing,
  ignored,
  MISSING,
  pairs,
  RENAMED,
  RETYPED,
  required,
  SOONER,
  TAKEN,
  UNEXPECTED,
  UNKNOWN,
  value,
} from './rules.ts';
import { compareSchemas, schema } from './schemas.ts';
import { atMost, content, ofValue, parameters, sentContent } from './values.ts';

type PathItems = Record<string, PathItem>;

const body = (location: string) => `${location} body`;
const always = (effect: Effect) => value<unknown>(() => effect);

const deprecated = always(FINE);
const scopes = value<object>((before = {}, after = {}) =>
  Object.keys(before).every((scope) => Object.hasOwn(after, scope)) ? FINE : FAILS_REQUESTS,
);
const flows = compareByName((location, name) => `${location} flow ${name}`, byKey({ scopes }, FAILS_REQUESTS));
const SCHEME = byKey({ flows }, FAILS_REQUESTS);

const inBody =
  <Value>(rule: CompareRule<Value>): CompareRule<Value> =>
  (before, after, location, ...rest) =>
    rule(before, after, body(location), ...rest);

const RESPONSE = byKey({
  headers: compareByName(
    (location, name) => `${location} header ${name}`,
    byKey({ required, schema, content: ofValue, deprecated }),
  ),
  [SENT_TYPE]: value<string>((before, after, way) => (before && after && way === 'response' ? UNEXPECTED : undefined)),
  [FIRST]: value<string>((before, after, way) => (before && after && way === 'response' ? RETYPED : undefined)),
  links: compareByName((location, name) => `${location} link ${name}`, byKey({}, MISSING)),
  content: inBody(content),
});

type Responses = Record<string, ResponseNode>;

const compareResponses: CompareRule<Responses> = function* (before = {}, after = {}, operation, direction) {
  // If the server sends the request, as it does for a webhook, the client sends the reply.
  const isSent = direction === 'response';
  const toReply = isSent ? 'request' : 'response';
  for (const [status, old, now] of pairs(before, after)) {
    const location = `${operation} ${status}`;
    if (old && now) yield* RESPONSE(old, now, location, toReply, '');
    else if (!now) yield* compareRemoved(before, after, location, toReply, status);
    else if (!isSent && !/^([45]|default)/.test(status)) yield { location, what: 'was added', effect: UNEXPECTED };
    else {
      // RFC 9110, section 15: a client treats an unknown status as the x00 of its class.
      yield { location, what: 'was added', effect: FINE };
      // If the old version did not list this status, a range or `default` described the status. The new reply must not
      // break clients that expect a reply of that description.
      const general = before[generalOf(status, before)];
      if (!general) continue;
      const isMissable = ({ required }: HeaderNode, name: string) =>
        !required && !Object.hasOwn(Object(now.headers), name);
      const expected = { ...general, headers: dropped(general.headers, isMissable) };
      const changes = RESPONSE(expected, now, location, toReply, '');
      yield* [...changes].filter(({ effect }) => effect.verdict === 'breaking');
    }
  }
};

/** Returns the key of the reply that describes a status without its own entry: the range, such as 4XX, or `default`. */
const generalOf = (status: string, responses: Responses) =>
  `${status[0]}XX` in responses ? `${status[0]}XX` : 'default';

/**
 * Compares a removed reply. Removing a range or `default` is compatible if new entries for single statuses replace it.
 * A `default` of the new contract then describes the remaining statuses, so it is compared with the removed reply.
 * Removing `default` is also compatible if the contract already declared `4XX`, `5XX` and a success.
 */
const compareRemoved: CompareRule<Responses> = function* (before = {}, after = {}, location, direction, status) {
  const isSplit = Object.keys(after).some((one) => !before[one] && one !== status && generalOf(one, before) === status);
  const isUnused = status === 'default' && ['4XX', '5XX'].every((range) => before[range] && after[range]);
  const isCovered = isUnused && Object.keys(before).some((one) => /^[23]/.test(one));
  const isFine = direction === 'response' && (isSplit || isCovered);
  yield { location, what: 'was removed', effect: isFine ? FINE : direction === 'request' ? FAILS_REQUESTS : MISSING };
  const { [status]: old } = before;
  if (isFine && after.default) {
    const changes = RESPONSE({ ...old }, { ...after.default }, location.replace(/\w+$/, 'default'), direction, '');
    yield* [...changes].filter(({ effect }) => effect.verdict === 'breaking');
  }
};

const OPERATION = byKey({
  operationId: always(RENAMED),
  path: always(RENAMED),
  tags: growing(RENAMED),
  deprecation: compareDeprecations,
  security: value<string[]>((before = [], after = [], direction) => {
    // In webhooks and callbacks, the server sends the keys, and the receivers check them.
    const [used, taken] = direction === 'request' ? [before, after] : [after, before];
    const { lost, gained } = compareLists(used, taken);
    if (!lost.every((way) => taken.some((other) => asksLess(other, way))))
      return direction === 'request' ? FAILS_REQUESTS : UNEXPECTED;
    return lost.length + gained.length > 0 ? FINE : undefined;
  }),
  parameters,
  requestBody: compareByName(body, byKey({ required, 'x-max-bytes': atMost(MAX_BYTES), content: sentContent })),
  callbacks: sent('callback'),
  responses: compareResponses,
});

/**
 * Makes a rule for webhooks and callbacks. Because the server sends these requests, a change of such a request is
 * judged like a change of a reply. A new webhook or callback is compatible, because clients may ignore it.
 */
function sent(name: string): CompareRule<Record<string, Record<string, PathItem>>> {
  const toLocation = (location: string, own: string) => `${location} ${name} ${own}`;
  return (before, after, location, _direction, key) =>
    compareByName(toLocation, compareSent)(withoutNotes(before), withoutNotes(after), location, 'response', key);
}

/**
 * Removes the entries with a key that begins with `x-`, unless the value is an object. An object may be a webhook, a
 * callback or a path item with such a name.
 */
const withoutNotes = <Value>(node?: Record<string, Value>): Record<string, Value> =>
  dropped(node, (value, key) => key.startsWith('x-') && !isNode(value));

function* compareSent(before: PathItems = {}, after: PathItems = {}, location: string): ContractChanges {
  const toSent = (paths: PathItems) => operationsByPath({ paths: withoutNotes(paths) }, (expression) => expression);
  yield* compareByName((_, own) => `${location} ${own.trim()}`, OPERATION)(
    toSent(before),
    toSent(after),
    location,
    'response',
    '',
  );
}

const VARIABLE = byKey({ enum: growing(MISSING) }, MISSING);

const SERVER = byKey({
  url: ignored,
  variables: function* (before: ServerNode['variables'], after: ServerNode['variables'], location: string) {
    for (const [name, old, now] of pairs(before, after)) {
      yield* VARIABLE(old, now, `${location}: variable ${name}`, 'request', '');
    }
  },
});

const CONTRACT = byKey({
  openapi: value<string>((before, after) => {
    const [old, now] = [before, after].map((version) => String(version).split('.', 2).join('.')) as [string, string];
    // A change between 3.0 and 3.1 is compatible by itself, because both contracts were converted to 3.1 for the
    // comparison.
    return old === now ? undefined : /^3\.[01]$/.test(old) && /^3\.[01]$/.test(now) ? FINE : UNEXPECTED;
  }),
  info: byKey({}, FOR_READERS),
  tags: always(FOR_READERS),
  servers: compareServers,
  webhooks: function* (before: PathItems = {}, after: PathItems = {}, location: string) {
    // A webhook is compared like a callback with one URL, which is empty because the contract does not name the URL.
    const [old, now] = [before, after].map((items) =>
      Object.fromEntries(Object.entries(withoutNotes(items)).map(([name, item]) => [name, { '': item }])),
    );
    yield* sent('webhook')(old, now, location, 'response', '');
  },
  jsonSchemaDialect: ignored,
  security: ignored,
  paths: ignored,
  components: ignored,
});

/**
 * Compares two contracts, and returns the changes. `today`, such as 2026-11-20, decides whether a deprecated operation
 * may be removed.
 */
export function compareContracts(before: Document, after: Document, today: string): ContractChange[] {
  const [old, now] = [expandContract(inOneVersion(before)), expandContract(inOneVersion(after))];
  // The version number is not compared. `gate.ts` checks whether it fits the changes.
  old.info.version = now.info.version;
  const known = withoutWords(old);
  const [own, renamed] = withSchemesOf(known, withoutWords(now));
  const changes = [
    ...CONTRACT(old, now, 'contract', 'request', ''),
    ...compareOperations(known, own, today),
    ...renamed,
    ...compareSchemes(known, own),
  ];
  if (changes.length === 0 && !isDeepStrictEqual(old, now)) {
    changes.push({ location: 'contract', what: 'is arranged in another way', effect: FOR_READERS });
  }
  return changes;
}

/** Returns the changes of schemas that may make stored records invalid. */
export function compareStoredRecords(
  before: Partial<Document>,
  after: Partial<Document>,
  domain: AnyDomain,
): ContractChange[] {
  const [old, now] = [before, after].map((contract) => expandContract(inOneVersion(contract)).components?.schemas);
  // Removes fields without a column, because they are not stored.
  const toStored = (schema: Schema | undefined) => {
    const { [COMPONENT_NAME]: _name, properties = {}, ...record } = keywordsOf(schema);
    // Ignores `readOnly`, because read-only fields are also stored.
    const fields = Object.entries(properties).map(([name, field]) => [
      name,
      field && { ...keywordsOf(field), readOnly: false },
    ]);
    return { ...record, properties: Object.fromEntries(fields), additionalProperties: false };
  };
  const changes = Object.entries(domain).flatMap(([name, { schema }]) =>
    schema ? [...compareSchemas(toStored(old?.[schema]), toStored(now?.[schema]), `stored ${name}`, 'request')] : [],
  );
  return changes.filter(({ effect }) => effect === FAILS_REQUESTS || effect === UNKNOWN);
}

function* compareOperations(before: Document, after: Document, today: string): ContractChanges {
  const [known, own] = toComparable(before, after, today);
  for (const [name, old, now] of pairs(known, own)) {
    const method = name.replace(/ .*/, '');
    if (old && now) {
      yield* OPERATION(old, withNamesOf(old, now), old.operationId, 'request', '');
      if (isOver(now, today) && !isOver(old, today))
        yield {
          location: old.operationId,
          what: `ends at once: its x-sunset, ${now.deprecation['x-sunset']}, has passed`,
          effect: SOONER,
        };
    } else if (now) {
      const others = Object.entries(known).filter(([other]) => other.startsWith(`${method} `));
      const [, taken] = others.find(([, other]) => takesFrom(now.path, other)) ?? [];
      const more = taken ? `, and takes requests from ${taken.operationId}` : '';
      const what = `was added, as ${method} ${now.path}${more}`;
      yield { location: now.operationId, what, effect: taken ? TAKEN : FINE };
    } else if (old) {
      const effect = isOver(old, today) ? FINE : MISSING;
      yield { location: old.operationId, what: `was removed from ${method} ${old.path}`, effect };
    }
  }
  const PATH = byKey(Object.fromEntries([...METHODS, 'parameters'].map((key) => [key, ignored])));
  for (const [path, old = {}, now = {}] of pairs(before.paths, after.paths)) yield* PATH(old, now, path, 'request', '');
}

type Deprecation = Comparable['deprecation'];

/** A text that sorts after all dates, for an operation without a date of removal. */
const LAST_DATE = '9999';

function* compareDeprecations(before: Deprecation = {}, after: Deprecation = {}, location: string): ContractChanges {
  const { deprecated, 'x-sunset': sunset = LAST_DATE } = before;
  const { 'x-sunset': end = LAST_DATE } = after;
  const isShorter = end < sunset;
  if (Boolean(deprecated) !== Boolean(after.deprecated)) {
    const what = after.deprecated ? `is deprecated, until ${after['x-sunset']}` : 'is no longer deprecated';
    yield { location, what, effect: after.deprecated ? FINE : SOONER };
    return;
  }
  const dates = byKey({ deprecated: ignored, 'x-sunset': always(isShorter ? SOONER : FINE) }, FINE);
  yield* dates(before, after, location, 'request', '');
}

/**
 * True if each client that meets the old security requirement also meets the new requirement, because the new one needs
 * no further scheme or scope.
 */
function asksLess(now: string, before: string): boolean {
  const isWithin = (key: string, other: string) => {
    const [known, [scheme, ...scopes]] = [other.split(' '), key.split(' ') as [string]];
    return known[0] === scheme && scopes.every((scope) => known.includes(scope, 1));
  };
  return (
    now === NO_KEY || now.split(' and ').every((key) => before.split(' and ').some((other) => isWithin(key, other)))
  );
}

/** Compares the servers of the contract, and their path prefixes. */
function* compareServers(before = [ROOT_SERVER], after = [ROOT_SERVER]): ContractChanges {
  const [was, is] = [prefixesOf(before).join(', '), prefixesOf(after).join(', ')];
  if (was !== is) yield { location: 'servers', what: describeChange('path prefix', was, is), effect: MISSING };
  const byOrigin = (servers: ServerNode[]) => Object.fromEntries(servers.map((server) => [originOf(server), server]));
  const servers = compareByName((_, origin) => `server ${origin || 'of this document'}`, SERVER);
  yield* servers(byOrigin(before), byOrigin(after), '', 'response', '');
}

/** Returns the path prefixes of all servers, each once, such as `/v1`. */
export function prefixesOf(servers = [ROOT_SERVER]): string[] {
  return [...new Set(servers.map(toPathPrefix))];
}

/**
 * Returns the part of a server's URL before the path, with its variables as in the contract. So changing the default of
 * a variable does not change the server.
 */
const originOf = ({ url }: ServerNode): string => /^([a-z]+:\/\/[^/]+|\{\w+\})/.exec(url)?.[0] ?? '';

/**
 * Finds security schemes that only changed their names, and gives them their old names in the new contract, because
 * requests do not contain these names. Also returns a compatible change for each of them.
 */
function withSchemesOf(before: Document, after: Document): [contract: Document, renamed: ContractChange[]] {
  const schemes = pairs(before.components?.securitySchemes, after.components?.securitySchemes);
  const added = new Map(schemes.flatMap(([name, old, now]) => (!old && now ? [[name, now]] : [])));
  const names = new Map<string, string>();
  for (const [name, old, now] of schemes) {
    if (!old || now) continue;
    const isSame = ([, one]: [string, SchemeNode]) =>
      [...SCHEME(toScheme(old), toScheme(one), '', 'request', '')].every(({ effect }) => effect === FOR_READERS);
    const [own] = [...added].find(isSame) ?? [];
    if (own === undefined) continue;
    names.set(own, name);
    added.delete(own);
  }
  const renamed = [...names].map(([own, name]) => ({
    location: `security scheme ${name}`,
    what: describeChange('name', name, own),
    effect: FINE,
  }));
  return [withSchemeNames(after, names), renamed];
}

/** Compares the security schemes. The other components are compared as parts of the operations that use them. */
function* compareSchemes(before: Document, after: Document): ContractChanges {
  for (const [name, old, now] of pairs(before.components?.securitySchemes, after.components?.securitySchemes)) {
    if (old && now) yield* SCHEME(toScheme(old), toScheme(now), `security scheme ${name}`, 'request', '');
  }
}
