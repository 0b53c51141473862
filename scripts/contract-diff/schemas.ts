/**
 * Compares schemas by the values that they allow. In a request, fewer break clients: what they send is refused. In a
 * response, more do: clients get what they do not expect.
 */
import { isDeepStrictEqual } from 'node:util';
import { compareLists, describe, FINE, MISSING, MOVED, READ, REFUSED, RENAMED, UNEXPECTED } from './change.ts';
import { relateChoices, toChoice } from './discriminators.ts';
import { type Json, NAME } from './expand.ts';
import {
  byKey,
  type Changes,
  type Direction,
  effectOf,
  growing,
  ignored,
  keyword,
  named,
  type Relation,
  type Rule,
  relateSets,
  required,
  toAddition,
  value,
} from './rules.ts';

const { NEGATIVE_INFINITY, POSITIVE_INFINITY } = Number;

const compareTo = (least: number) =>
  keyword((before = least, after = least) => (after > before ? 'fewer' : after < before ? 'more' : undefined));
export const atMost = keyword((before = POSITIVE_INFINITY, after = POSITIVE_INFINITY) =>
  after < before ? 'fewer' : 'more',
);
const limit = keyword(relateRules);
const subschema = (suffix: string): Rule =>
  function* (before, after, place, direction) {
    yield* compareSchemas(before, after, place + suffix, direction);
  };

const KEYWORDS: Record<string, Rule> = {
  type: keyword(relateTypes),
  format: keyword(relateFormats),
  enum: keyword((before, after) => (before && after ? relateSets(before, after) : relateRules(before, after))),
  pattern: limit,
  multipleOf: limit,
  minimum: compareTo(NEGATIVE_INFINITY),
  exclusiveMinimum: compareTo(NEGATIVE_INFINITY),
  minLength: compareTo(0),
  minItems: compareTo(0),
  minProperties: compareTo(0),
  maximum: atMost,
  exclusiveMaximum: atMost,
  maxLength: atMost,
  maxItems: atMost,
  maxProperties: atMost,
  uniqueItems: required,
  default: value((_before, _after, direction) => (direction === 'request' ? MOVED : READ)),
  deprecated: value(() => FINE),
  'x-extensible-enum': growing(MISSING),
  [NAME]: value((before) => (before ? RENAMED : FINE)),
  const: ignored,
  discriminator: keyword(relateChoices),
  readOnly: value(() => READ),
  writeOnly: value(() => READ),
  others: subschema(': any other field'),
  items: subschema('[]'),
  allOf: parts,
  anyOf: parts,
  oneOf: parts,
};

/** A schema that is not there allows anything, as `{}` does. */
export function* compareSchemas(before: Json = {}, after: Json = {}, place: string, direction: Direction): Changes {
  if (isDeepStrictEqual(before, after)) return;
  if (before === false) yield { place, what: 'may be there now', effect: effectOf('more', direction) };
  else if (after === false) yield { place, what: 'may no longer be there', effect: effectOf('fewer', direction) };
  else {
    const [old, now] = [toJudged(before, direction), toJudged(after, direction)];
    const fields = named(
      (there, name) => `${there}.${name}`,
      FIELD,
      isClosed(old) ? toAdditionToClosed : toAdditionToOpen,
    );
    yield* byKey({ ...KEYWORDS, fields })(old, now, place, direction, '');
  }
}

export const schema = subschema('');

/** What may be there under a name: a field, a parameter or a header. */
const FIELD = byKey({ required, schema });

/** A field with this word is not there in this direction. */
const HIDDEN = { request: 'readOnly', response: 'writeOnly' };

/** The schema with what one rule judges under one key: each field, and the schema of the fields that it does not name. */
function toJudged(schema: Json, direction: Direction): Json {
  const {
    properties = {},
    required = [],
    additionalProperties,
    unevaluatedProperties,
    discriminator,
    ...rest
  } = schema;
  const others = additionalProperties ?? unevaluatedProperties;
  const choice = toChoice(schema);
  const all = { ...Object.fromEntries(required.map((name: string) => [name, {}])), ...properties };
  const fields = Object.entries<Json>(all).flatMap(([name, field]) => {
    if (!field[HIDDEN[direction]]) return [[name, { required: required.includes(name), schema: field }]];
    // A request is refused for it, as for any field that is not named where those are.
    return direction === 'request' && others !== false ? [[name, { required: false, schema: false }]] : [];
  });
  return {
    ...rest,
    ...('const' in rest && { enum: [rest.const] }),
    ...(others !== undefined && { others }),
    ...(choice && { discriminator: choice }),
    fields: Object.fromEntries(fields),
  };
}

const isClosed = ({ others }: Json) => others === false;

function toAdditionToClosed(field: Json, direction: Direction) {
  return direction === 'request' ? toAddition(field, direction) : { what: 'was added', effect: UNEXPECTED };
}

/** Before, requests could have a field of this name with any value. */
function toAdditionToOpen(field: Json, direction: Direction) {
  return direction === 'request' ? { what: 'was added', effect: REFUSED } : toAddition(field, direction);
}

/** A rule that values keep, or none. */
function relateRules(before: Json, after: Json): Relation {
  if (before === undefined) return 'fewer';
  return after === undefined ? 'more' : 'other';
}

/** A number may be sent as an integer. Received as one, it still changes the types of generated clients. */
function relateTypes(before: Json, after: Json, direction: Direction): Relation {
  if (!before || !after) return relateRules(before, after);
  const toSet = (type: Json) =>
    [type].flat().flatMap((name) => (name === 'number' && direction === 'request' ? ['number', 'integer'] : name));
  return relateSets(toSet(before), toSet(after));
}

/** Clients are generated with types that follow the format, so a reply keeps it, even where its values would fit. */
function relateFormats(before: Json, after: Json, direction: Direction): Relation {
  if (direction === 'response') return 'other';
  if (before === 'int32' && after === 'int64') return 'more';
  return before === 'int64' && after === 'int32' ? 'fewer' : relateRules(before, after);
}

/** The parts of `allOf`, `anyOf` or `oneOf`. Those that differ are compared in their order. */
function* parts(before: Json, after: Json, place: string, direction: Direction, key: string): Changes {
  const isChoice = key !== 'allOf';
  if (isChoice && !(before && after)) {
    yield { place, what: describe(key, before, after), effect: effectOf(after ? 'fewer' : 'more', direction) };
    return;
  }
  const { lost, gained } = compareLists(before, after);
  const common = Math.min(lost.length, gained.length);
  for (let index = 0; index < common; index++) {
    yield* compareSchemas(lost[index], gained[index], `${place}: a part of ${key}`, direction);
  }
  if (lost.length === gained.length) return;
  const isMore = gained.length > lost.length === isChoice;
  const what = describe(key, lost.slice(common), gained.slice(common));
  yield { place, what, effect: effectOf(isMore ? 'more' : 'fewer', direction) };
}
