/** Which values a schema takes, keyword by keyword: fewer than before, more, or others. */
import { compareLists } from './change.ts';
import type { Json } from './expand.ts';
import type { Direction } from './presence.ts';

/** How the values have changed; `other` where neither the old nor the new hold all of the others. */
export type Relation = 'fewer' | 'more' | 'other';

type Relate = (before: Json, after: Json, direction: Direction) => Relation | undefined;

/** Asked only where the keyword changed; it may yet be the same, in other words. */
export const KEYWORDS: Record<string, Relate> = {
  type: relateTypes,
  format: relateFormats,
  enum: relateEnums,
  pattern: relateRules,
  multipleOf: relateRules,
  minimum: atLeast(Number.NEGATIVE_INFINITY),
  exclusiveMinimum: atLeast(Number.NEGATIVE_INFINITY),
  minLength: atLeast(0),
  minItems: atLeast(0),
  minProperties: atLeast(0),
  maximum: atMost,
  exclusiveMaximum: atMost,
  maxLength: atMost,
  maxItems: atMost,
  maxProperties: atMost,
  uniqueItems: (before = false, after = false) => (before === after ? undefined : after ? 'fewer' : 'more'),
};

function atLeast(least: number): Relate {
  return (before = least, after = least) => (after > before ? 'fewer' : after < before ? 'more' : undefined);
}

function atMost(before = Number.POSITIVE_INFINITY, after = Number.POSITIVE_INFINITY): Relation {
  return after < before ? 'fewer' : 'more';
}

/** A rule that values keep, or none. */
function relateRules(before: Json, after: Json): Relation {
  if (before === undefined) return 'fewer';
  return after === undefined ? 'more' : 'other';
}

function relateEnums(before: Json, after: Json): Relation | undefined {
  return before && after ? relateSets(before, after) : relateRules(before, after);
}

function relateSets(before: Json[], after: Json[]): Relation | undefined {
  const { lost, gained } = compareLists(before, after);
  if (lost.length > 0) return gained.length > 0 ? 'other' : 'fewer';
  return gained.length > 0 ? 'more' : undefined;
}

/** A number may be sent as an integer. Received as one, it still changes the types that clients were generated with. */
function relateTypes(before: Json, after: Json, direction: Direction): Relation | undefined {
  if (!before || !after) return relateRules(before, after);
  const toSet = (type: Json) =>
    [type].flat().flatMap((name) => (name === 'number' && direction === 'request' ? ['number', 'integer'] : name));
  return relateSets(toSet(before), toSet(after));
}

/** A format decides the types that clients are generated with; so a reply keeps it, even where values would fit. */
function relateFormats(before: Json, after: Json, direction: Direction): Relation {
  if (direction === 'response') return 'other';
  if (before === 'int32' && after === 'int64') return 'more';
  return before === 'int64' && after === 'int32' ? 'fewer' : relateRules(before, after);
}
