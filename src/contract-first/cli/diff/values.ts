/**
 * Compares how values are written: contents by their media types, and parameters. A parameter may stay as it was, become an array of its
 * old values, or take names from an object in the query.
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

/** Compares contents. `added` is the effect of an additional type in each direction. */
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

/** Compares a body of a type that the receiver cannot choose: the server may send any of the types. */
export const sentContent = contentsWith({ request: FINE, response: UNEXPECTED });

/** A range of types covers JSON, because the server sends only JSON for a range. */
const rangeOf = (type: string, contents: Contents) =>
  type === PLAIN_JSON ? (contents['application/*'] ?? contents['*/*']) : undefined;

/** Compares the content of a parameter or header. If only one version uses `content`, the value is written in another way. */
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

/** Compares the content types of a field in a form. A field without content types may have any type. */
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

/** Returns the media type without the encodings of new fields, since the comparison of schemas reports new fields. */
function withoutNewFields(now: MediaNode, old: MediaNode): MediaNode {
  const [own, known] = [now, old].map(({ schema }) => keywordsOf(schema).properties ?? {}) as [object, object];
  const isNew = (_encoding: EncodingNode, field: string) => Object.hasOwn(own, field) && !Object.hasOwn(known, field);
  return now.encoding ? { ...now, encoding: dropped(now.encoding, isNew) } : now;
}

/** Compares the largest allowed number. `usual` is the number if the contract does not set one. */
export const atMost = (usual: number) =>
  keyword<number>((before = usual, after = usual) => (after < before ? 'fewer' : after > before ? 'more' : undefined));

/** Keywords that let clients send more. */
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
    // The change to an array already reports that there may be several items, or none.
    if (!listed || change.effect !== FINE) yield change;
  }
};

/** Returns the old parameter as an array of one item, if an array of one item is written like the old value: without a separator. */
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

/** Returns the names in the query that a parameter declares. An object declares the names of its fields, and may accept further names. */
const namesOf = (parameter: ParameterNode): string[] =>
  isSpread(parameter) ? Object.keys(keywordsOf(parameter.schema).properties ?? {}) : [parameter.name];

function isSpread({ style, explode, schema }: ParameterNode): boolean {
  const { type, properties } = keywordsOf(schema);
  const isObject = type === undefined ? properties !== undefined : [type].flat().includes('object');
  return style === undefined && explode === undefined && isObject;
}

/** Returns the name of the parameter that accepts a name in the query: the parameter of this name, or else an object. */
function ownerOf(name: string, parameters: Record<string, ParameterNode>): string | undefined {
  const query = Object.values(parameters).filter(({ in: location }) => location === 'query');
  const objects = query.filter(isSpread);
  const isOpen = ({ schema }: ParameterNode) => fieldOf(name, keywordsOf(schema)) !== false;
  const own = query.find((one) => one.name === name && !objects.includes(one));
  return (own ?? objects.find((one) => namesOf(one).includes(name)) ?? objects.find(isOpen))?.name;
}
