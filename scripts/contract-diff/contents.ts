/** Contents by their media types: of bodies, and of parameters and headers that are written as one. */
import type { EncodingNode, MediaNode } from '../../src/engine/contract/document.ts';
import { keywordsOf } from '../../src/engine/schema/json.ts';
import { FINE, MISSING, pairs, REFUSED, UNEXPECTED } from './change.ts';
import { dropped } from './normal.ts';
import { byKey, keyword, type Rule, relateSets } from './rules.ts';
import { schema } from './schemas.ts';

type Contents = Record<string, MediaNode>;

export const content: Rule<Contents> = function* (before = {}, after = {}, place, direction) {
  for (const [type, old, same] of pairs(before, after)) {
    // A request may have any type that a range names.
    const now = same ?? (direction === 'request' ? rangeOf(type, after) : undefined);
    if (old && now) yield* MEDIA(old, withoutNewFields(now, old), place, direction, '');
    else if (now) yield { place, what: `content type ${type} was added`, effect: FINE };
    else yield { place, what: `content type ${type} was removed`, effect: direction === 'request' ? REFUSED : MISSING };
  }
};

const rangeOf = (type: string, contents: Contents) => contents[type.replace(/\/.*/, '/*')] ?? contents['*/*'];

/** Of a parameter or a header: where only one of them has a content, the same value is written in another way. */
export const ofValue: Rule<Contents> = function* (before, after, place, direction, key) {
  const effect = direction === 'request' ? REFUSED : UNEXPECTED;
  if (before && after) yield* content(before, after, place, direction, key);
  else yield { place, what: after ? 'is written as content now' : 'is no longer written as content', effect };
};

const toTypes = (types: string) => types.toLowerCase().split(/\s*,\s*/);

/** Where none is said, a field may have any type. */
const contentType = keyword<string>((before, after) => {
  if (before === undefined || after === undefined) return after ? 'fewer' : 'more';
  return relateSets(toTypes(before), toTypes(after));
});

const ENCODING = byKey({ contentType });

const MEDIA = byKey({
  schema,
  encoding: function* (
    before: MediaNode['encoding'],
    after: MediaNode['encoding'],
    place: string,
    direction: 'request' | 'response',
  ) {
    for (const [field, old = {}, now = {}] of pairs(before, after)) {
      yield* ENCODING(old, now, `${place}.${field}`, direction, '');
    }
  },
});

/** Without the encoding of fields that the form had not before: their schema says what they are. */
function withoutNewFields(now: MediaNode, old: MediaNode): MediaNode {
  const [own, known] = [now, old].map(({ schema }) => keywordsOf(schema).properties ?? {}) as [object, object];
  const isNew = (_encoding: EncodingNode, field: string) => field in own && !(field in known);
  return now.encoding ? { ...now, encoding: dropped(now.encoding, isNew) } : now;
}
