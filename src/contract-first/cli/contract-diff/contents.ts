/** Contents by their media types: of bodies, and of parameters and headers that are written as one. */
import type { EncodingNode, MediaNode } from '../../engine/contract/document.ts';
import { PLAIN_JSON } from '../../engine/contract/replies.ts';
import { keywordsOf } from '../../engine/schema/json.ts';
import { type Effect, FINE, MISSING, pairs, REFUSED, UNEXPECTED } from './change.ts';
import { dropped } from './normal.ts';
import { byKey, type Direction, keyword, type Rule, relateSets } from './rules.ts';
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
