/** How values are written: contents by their media types, and parameters, each by itself, as an array of what it was, or with names from an object in the query. */
import { fieldOf, typesOf } from '../../contract/schema/keyword-subsets.ts';
import type { EncodingNode, MediaNode, ParameterNode } from '../../engine/contract/document.ts';
import { PLAIN_JSON } from '../../engine/contract/replies.ts';
import { keywordsOf } from '../../engine/schema/json.ts';
import { dropped } from './normal.ts';
import {
  byKey,
  type Direction,
  type Effect,
  FINE,
  keyword,
  MISSING,
  named,
  pairs,
  REFUSED,
  type Rule,
  relateSets,
  required,
  TAKEN,
  UNEXPECTED,
  value,
} from './rules.ts';
import { schema } from './schemas.ts';

type Contents = Record<string, MediaNode>;

/** `added` is what a type more does in each direction. */
const contentsWith = (added: Record<Direction, Effect>): Rule<Contents> =>
  function* (before = {}, after = {}, place, direction) {
    for (const [type, same, own] of pairs(before, after)) {
      const old = same ?? rangeOf(type, before);
      const now = own ?? (direction === 'request' ? rangeOf(type, after) : undefined);
      if (old && now) yield* MEDIA(old, withoutNewFields(now, old), place, direction, '');
      if (!same) yield { place, what: `content type ${type} was added`, effect: added[direction] };
      else if (!now)
        yield { place, what: `content type ${type} was removed`, effect: direction === 'request' ? REFUSED : MISSING };
    }
  };

export const content = contentsWith({ request: FINE, response: FINE });

/** Of a body that the server sends without being asked for a type: it may have any of these. */
export const sentContent = contentsWith({ request: FINE, response: UNEXPECTED });

/** For a range, JSON is served, and nothing else. */
const rangeOf = (type: string, contents: Contents) =>
  type === PLAIN_JSON ? (contents['application/*'] ?? contents['*/*']) : undefined;

/** Of a parameter or a header: where only one of them has a content, the same value is written in another way. */
export const ofValue: Rule<Contents> = function* (before, after, place, direction, key) {
  const effect = direction === 'request' ? REFUSED : UNEXPECTED;
  if (before && after) yield* content(before, after, place, direction, key);
  else yield { place, what: after ? 'is written as content now' : 'is no longer written as content', effect };
};

const toTypes = (types: string) =>
  types
    .toLowerCase()
    .split(',')
    .map((type) => type.trim());

/** Where none is said, a field may have any type. */
const contentType = keyword<string>((before, after) => {
  if (before === undefined || after === undefined) return after ? 'fewer' : 'more';
  return relateSets(toTypes(before), toTypes(after));
});

const ENCODING = byKey({ contentType });

const encoding: Rule<MediaNode['encoding']> = function* (before, after, place, direction) {
  for (const [field, old = {}, now = {}] of pairs(before, after)) {
    yield* ENCODING(old, now, `${place}.${field}`, direction, '');
  }
};

const MEDIA = byKey({ schema, encoding });

/** Without the encoding of fields that the form had not before: their schema says what they are. */
function withoutNewFields(now: MediaNode, old: MediaNode): MediaNode {
  const [own, known] = [now, old].map(({ schema }) => keywordsOf(schema).properties ?? {}) as [object, object];
  const isNew = (_encoding: EncodingNode, field: string) => Object.hasOwn(own, field) && !Object.hasOwn(known, field);
  return now.encoding ? { ...now, encoding: dropped(now.encoding, isNew) } : now;
}

/** The largest number allowed, or `usual` where none is said. */
export const atMost = (usual: number) =>
  keyword<number>((before = usual, after = usual) => (after < before ? 'fewer' : after > before ? 'more' : undefined));

/** Words that let clients send more. */
const allowing = value((_before, after) => (after ? FINE : REFUSED));

const KEYS = byKey({
  ...{ required, schema, content: ofValue, allowReserved: allowing, allowEmptyValue: allowing },
  ...{ deprecated: value(() => FINE), 'x-opaque': required, 'x-idempotency-hours': atMost(24) },
});

const parameter: Rule<ParameterNode> = function* (before, after, place, direction, key) {
  const [old, now] = [before, after] as [ParameterNode, ParameterNode];
  const listed = toListed(old, now);
  if (listed) yield { place, what: 'became an array of what it was', effect: FINE };
  for (const change of KEYS(listed ?? old, now, place, direction, key)) {
    // That it may have more than one item, or none, is said.
    if (!listed || change.effect !== FINE) yield change;
  }
};

/** As an array of one item, where the new array is written as the value was: one item has no separator in it. */
function toListed(before: ParameterNode, { in: place, style, explode, ...after }: ParameterNode) {
  const [{ default: usual, ...item }, { type }] = [keywordsOf(before.schema), keywordsOf(after.schema)];
  const types = typesOf(item);
  if (type !== 'array' || !types?.every((one) => one !== 'array' && one !== 'object')) return undefined;
  const isRepeated = place === 'query' && style === undefined && explode === undefined;
  if (!isRepeated && types.includes('string')) return undefined;
  const schema = { type: 'array', items: item, minItems: 1, maxItems: 1 };
  return { ...before, style, explode, schema: { ...schema, ...(usual !== undefined && { default: [usual] }) } };
}

const each = named((place, name) => `${place} ${name}`, parameter);

export const parameters: Rule<Record<string, ParameterNode>> = function* (before = {}, after = {}, place, ...rest) {
  yield* each(before, after, place, ...rest);
  for (const [key, one] of Object.entries(after).filter(([, { in: where }]) => where === 'query')) {
    for (const name of namesOf(one)) {
      const [old, now] = [ownerOf(name, before), ownerOf(name, after)];
      const isTaken = old !== now && now === one.name && Object.values(after).some((other) => other.name === old);
      if (isTaken) yield { place: `${place} ${key}`, what: `takes ${name} from ${old}`, effect: TAKEN };
    }
  }
};

/** The names in the query that it declares: an object has its fields' names, and may take others. */
const namesOf = (parameter: ParameterNode): string[] =>
  isSpread(parameter) ? Object.keys(keywordsOf(parameter.schema).properties ?? {}) : [parameter.name];

function isSpread({ style, explode, schema }: ParameterNode): boolean {
  const { type, properties } = keywordsOf(schema);
  const isObject = type === undefined ? properties !== undefined : [type].flat().includes('object');
  return style === undefined && explode === undefined && isObject;
}

/** The parameter that takes a name in the query: one of this name, or else an object. */
function ownerOf(name: string, parameters: Record<string, ParameterNode>): string | undefined {
  const query = Object.values(parameters).filter(({ in: place }) => place === 'query');
  const objects = query.filter(isSpread);
  const isOpen = ({ schema }: ParameterNode) => fieldOf(name, keywordsOf(schema)) !== false;
  const own = query.find((one) => one.name === name && !objects.includes(one));
  return (own ?? objects.find((one) => namesOf(one).includes(name)) ?? objects.find(isOpen))?.name;
}
