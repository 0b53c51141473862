/**
 * Compares how values are written in messages: the media types of bodies, and the styles of parameters. Clients keep
 * working if a parameter becomes an array of its old values, but break if a new parameter takes over a name in the
 * query from another parameter.
 */
import { allowedTypesOf, fieldOf } from '../../contract/subsets/keyword-subsets.ts';
import type { EncodingNode, MediaNode, ParameterNode } from '../../engine/contract/document.ts';
import { PLAIN_JSON } from '../../engine/contract/replies.ts';
import { keywordsOf } from '../../engine/schema/json.ts';
import { dropped } from './normal.ts';
import {
  byKey,
  type CompareRule,
  compareByName,
  type Direction,
  type Effect,
  FAILS_REQUESTS,
  FINE,
  keyword,
  MISSING,
  pairs,
  relateSets,
  required,
  TAKEN,
  UNEXPECTED,
  value,
} from './rules.ts';
import { schema } from './schemas.ts';

type Contents = Record<string, MediaNode>;

/** Makes a rule for the media types of a body. `added` contains the effect of a new media type for each direction. */
const contentsWith = (added: Record<Direction, Effect>): CompareRule<Contents> =>
  function* (before = {}, after = {}, location, direction) {
    for (const [type, same, own] of pairs(before, after)) {
      const old = same ?? rangeOf(type, before);
      const now = own ?? (direction === 'request' ? rangeOf(type, after) : undefined);
      if (old && now) yield* MEDIA(old, withoutNewFields(now, old), location, direction, '');
      if (!same) yield { location, what: `content type ${type} was added`, effect: added[direction] };
      else if (!now)
        yield {
          location,
          what: `content type ${type} was removed`,
          effect: direction === 'request' ? FAILS_REQUESTS : MISSING,
        };
    }
  };

export const content = contentsWith({ request: FINE, response: FINE });

/**
 * Compares the media types of a request's body. In a webhook, the server sends the request, and a new media type breaks
 * the receiver, because the receiver cannot choose the type.
 */
export const sentContent = contentsWith({ request: FINE, response: UNEXPECTED });

/**
 * Returns the entry of the range of media types that covers JSON. A range does not cover any other type, because for a
 * range the server sends only JSON.
 */
const rangeOf = (type: string, contents: Contents) =>
  type === PLAIN_JSON ? (contents['application/*'] ?? contents['*/*']) : undefined;

/**
 * Compares `content` of a parameter or a header. If only one version has `content`, the value is written in another
 * way, which is breaking.
 */
export const ofValue: CompareRule<Contents> = function* (before, after, location, direction, key) {
  const effect = direction === 'request' ? FAILS_REQUESTS : UNEXPECTED;
  if (before && after) yield* content(before, after, location, direction, key);
  else yield { location, what: after ? 'is written as content now' : 'is no longer written as content', effect };
};

const toTypes = (types: string) =>
  types
    .toLowerCase()
    .split(',')
    .map((type) => type.trim());

/** Compares the media types of a field in a form. A field without `contentType` may have any type. */
const contentType = keyword<string>((before, after) => {
  if (before === undefined || after === undefined) return after ? 'fewer' : 'more';
  return relateSets(toTypes(before), toTypes(after));
});

const ENCODING = byKey({ contentType });

const encoding: CompareRule<MediaNode['encoding']> = function* (before, after, location, direction) {
  for (const [field, old = {}, now = {}] of pairs(before, after)) {
    yield* ENCODING(old, now, `${location}.${field}`, direction, '');
  }
};

const MEDIA = byKey({ schema, encoding });

/**
 * Removes the encodings of new fields from a media type, because the comparison of schemas already reports these
 * fields.
 */
function withoutNewFields(now: MediaNode, old: MediaNode): MediaNode {
  const [own, known] = [now, old].map(({ schema }) => keywordsOf(schema).properties ?? {}) as [object, object];
  const isNew = (_encoding: EncodingNode, field: string) => Object.hasOwn(own, field) && !Object.hasOwn(known, field);
  return now.encoding ? { ...now, encoding: dropped(now.encoding, isNew) } : now;
}

/** Makes a rule for a maximum. `usual` is the maximum that applies if the contract does not set one. */
export const atMost = (usual: number) =>
  keyword<number>((before = usual, after = usual) => (after < before ? 'fewer' : after > before ? 'more' : undefined));

/** Compares a keyword that allows further values if it is true. */
const allowing = value((_before, after) => (after ? FINE : FAILS_REQUESTS));

const KEYS = byKey({
  ...{ required, schema, content: ofValue, allowReserved: allowing, allowEmptyValue: allowing },
  ...{ deprecated: value(() => FINE), 'x-opaque': required, 'x-idempotency-hours': atMost(24) },
});

const parameter: CompareRule<ParameterNode> = function* (before, after, location, direction, key) {
  const [old, now] = [before, after] as [ParameterNode, ParameterNode];
  const listed = toListed(old, now);
  if (listed) yield { location, what: 'became an array of what it was', effect: FINE };
  for (const change of KEYS(listed ?? old, now, location, direction, key)) {
    // After a change to an array, compatible changes are not reported, because they only mean that the array may have
    // more items or none.
    if (!listed || change.effect !== FINE) yield change;
  }
};

/**
 * Returns the old parameter as an array with exactly one item, if clients write this array in the same way as the old
 * value. Returns undefined if not, for example because an old text could contain the separator of the array.
 */
function toListed(before: ParameterNode, { in: location, style, explode, ...after }: ParameterNode) {
  const [{ default: usual, ...item }, { type }] = [keywordsOf(before.schema), keywordsOf(after.schema)];
  const types = allowedTypesOf(item);
  if (type !== 'array' || !types?.every((one) => one !== 'array' && one !== 'object')) return undefined;
  const isRepeated = location === 'query' && style === undefined && explode === undefined;
  if (!isRepeated && types.includes('string')) return undefined;
  const schema = { type: 'array', items: item, minItems: 1, maxItems: 1 };
  return { ...before, style, explode, schema: { ...schema, ...(usual !== undefined && { default: [usual] }) } };
}

const each = compareByName((location, name) => `${location} ${name}`, parameter);

export const parameters: CompareRule<Record<string, ParameterNode>> = function* (
  before = {},
  after = {},
  location,
  ...rest
) {
  yield* each(before, after, location, ...rest);
  for (const [key, one] of Object.entries(after).filter(([, { in: where }]) => where === 'query')) {
    for (const name of namesOf(one)) {
      const [old, now] = [ownerOf(name, before), ownerOf(name, after)];
      const isTaken = old !== now && now === one.name && Object.values(after).some((other) => other.name === old);
      if (isTaken) yield { location: `${location} ${key}`, what: `takes ${name} from ${old}`, effect: TAKEN };
    }
  }
};

/** Returns the names in the query string that a parameter uses. An object uses the names of its fields. */
const namesOf = (parameter: ParameterNode): string[] =>
  isSpread(parameter) ? Object.keys(keywordsOf(parameter.schema).properties ?? {}) : [parameter.name];

function isSpread({ style, explode, schema }: ParameterNode): boolean {
  const { type, properties } = keywordsOf(schema);
  const isObject = type === undefined ? properties !== undefined : [type].flat().includes('object');
  return style === undefined && explode === undefined && isObject;
}

/**
 * Returns the name of the parameter that receives a name in the query string: the parameter of this name, or an object
 * that allows this field.
 */
function ownerOf(name: string, parameters: Record<string, ParameterNode>): string | undefined {
  const query = Object.values(parameters).filter(({ in: location }) => location === 'query');
  const objects = query.filter(isSpread);
  const isOpen = ({ schema }: ParameterNode) => fieldOf(name, keywordsOf(schema)) !== false;
  const own = query.find((one) => one.name === name && !objects.includes(one));
  return (own ?? objects.find((one) => namesOf(one).includes(name)) ?? objects.find(isOpen))?.name;
}
