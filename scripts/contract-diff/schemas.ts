/**
 * Compares schemas by the values that they take. In a request, taking fewer breaks clients: what they send is refused. In
 * a response, taking more does: they get what they were never told of.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  type Change,
  type Changes,
  compareLists,
  compareRest,
  describe,
  pairs,
  toChange,
  type Verdict,
} from './change.ts';
import { type Json, NAME } from './expand.ts';
import { KEYWORDS, type Relation } from './keywords.ts';
import { compareRequired, type Direction, toAddition } from './presence.ts';

const EFFECTS: Record<Direction, Record<Relation, [Verdict, string]>> = {
  request: {
    fewer: ['breaking', 'Requests that were fine are refused now.'],
    more: ['compatible', 'Requests that were fine still are.'],
    other: ['breaking', 'Requests that were fine may be refused now.'],
  },
  response: {
    fewer: ['compatible', 'Clients get nothing that is new to them.'],
    more: ['breaking', 'Clients may get what they were never told of.'],
    other: ['breaking', 'Clients may get what they were never told of.'],
  },
};

const CODES = 'x-extensible-enum';

const JUDGED = [
  ...Object.keys(KEYWORDS),
  ...['const', 'default', 'deprecated', CODES, NAME],
  ...['properties', 'required', 'additionalProperties', 'unevaluatedProperties', 'items', 'allOf', 'anyOf', 'oneOf'],
];

/** A schema that is not there takes anything, as `{}` does. */
export function* compareSchemas(before: Json = {}, after: Json = {}, direction: Direction, place: string): Changes {
  if (isDeepStrictEqual(before, after)) return;
  if (before === false) yield toEffect('more', direction, place, 'may be there now');
  else if (after === false) yield toEffect('fewer', direction, place, 'may no longer be there');
  else yield* compareKeywords(toSchema(before), toSchema(after), direction, place);
}

function* compareKeywords(old: Json, now: Json, direction: Direction, place: string): Changes {
  for (const [keyword, relate] of Object.entries(KEYWORDS)) {
    if (isDeepStrictEqual(old[keyword], now[keyword])) continue;
    const relation = relate(old[keyword], now[keyword], direction);
    if (relation) yield toEffect(relation, direction, place, describe(keyword, old[keyword], now[keyword]));
  }
  yield* compareAnnotations(old, now, direction, place);
  yield* compareFields(old, now, direction, place);
  yield* compareSchemas(othersOf(old), othersOf(now), direction, `${place}: any other field`);
  yield* compareSchemas(old.items, now.items, direction, `${place}[]`);
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) yield* compareParts(old, now, keyword, direction, place);
  yield* compareRest(old, now, place, JUDGED);
}

function toEffect(relation: Relation, direction: Direction, place: string, what: string): Change {
  const [verdict, why] = EFFECTS[direction][relation];
  return toChange(verdict, place, what, why);
}

function toSchema(schema: Json): Json {
  if (schema === true) return {};
  return 'const' in schema ? { ...schema, enum: [schema.const] } : schema;
}

/** The schema of the fields that an object does not name: `false` where it is closed. */
function othersOf(schema: Json): Json {
  return schema.additionalProperties ?? schema.unevaluatedProperties;
}

/** What does not bind values, and yet means something to clients. */
function* compareAnnotations(before: Json, after: Json, direction: Direction, place: string): Changes {
  if (!isDeepStrictEqual(before.default, after.default)) {
    const what = describe('default', before.default, after.default);
    if (direction === 'request')
      yield toChange('breaking', place, what, 'Requests that leave it out mean something else now.');
    else yield toChange('documentation', place, what, 'A reply is not filled in by its default.');
  }
  if (before.deprecated !== after.deprecated) {
    yield toChange('compatible', place, describe('deprecated', before.deprecated, after.deprecated), 'It still works.');
  }
  if (before[NAME] !== after[NAME]) {
    const what = describe('name of the schema', before[NAME], after[NAME]);
    if (before[NAME]) yield toChange('breaking', place, what, 'Generated clients name their types by it.');
    else yield toChange('compatible', place, what, 'Nothing that was there is different.');
  }
  const { lost, gained } = compareLists(before[CODES], after[CODES]);
  if (lost.length > 0)
    yield toChange('breaking', place, describe(CODES, lost, []), 'Clients that know it wait for it in vain.');
  if (gained.length > 0)
    yield toChange('compatible', place, describe(CODES, [], gained), 'Clients are told to expect new ones.');
}

function* compareFields(before: Json, after: Json, direction: Direction, place: string): Changes {
  const isRequired = (schema: Json, name: string): boolean => schema.required?.includes(name) ?? false;
  for (const [name, old, now] of pairs(withRequired(before), withRequired(after))) {
    const field = `${place}.${name}`;
    if (now === undefined) {
      const why =
        direction === 'request' ? 'Requests that have it are refused now.' : 'Clients that read it find nothing.';
      yield toChange('breaking', field, 'was removed', why);
    } else if (old !== undefined) {
      yield* compareRequired(isRequired(before, name), isRequired(after, name), direction, field);
      yield* compareSchemas(old, now, direction, field);
    } else if (direction === 'response') {
      const [verdict, why] =
        othersOf(before) === false
          ? (['breaking', 'Clients were told that there is no other field.'] as const)
          : (['compatible', 'Clients ignore fields that they do not know.'] as const);
      yield toChange(verdict, field, 'was added', why);
    } else if (othersOf(before) === false) yield toAddition(isRequired(after, name), field);
    else yield toChange('breaking', field, 'was added', 'Requests could have a field of this name with any value.');
  }
}

/** The fields of an object, with those that are only required. */
function withRequired({ properties, required = [] }: Json): Json {
  return { ...Object.fromEntries(required.map((name: string) => [name, {}])), ...properties };
}

/** The parts of a schema that are put together or to choose from. Those that differ are compared in their order. */
function* compareParts(before: Json, after: Json, keyword: string, direction: Direction, place: string): Changes {
  const [old, now] = [before[keyword], after[keyword]];
  const { lost, gained } = compareLists(old, now);
  const isChoice = keyword !== 'allOf';
  if (isChoice && (old === undefined) !== (now === undefined)) {
    yield toEffect(now ? 'fewer' : 'more', direction, place, describe(keyword, old, now));
    return;
  }
  const common = Math.min(lost.length, gained.length);
  for (let index = 0; index < common; index++) {
    yield* compareSchemas(lost[index], gained[index], direction, `${place}: a part of ${keyword}`);
  }
  if (lost.length === gained.length) return;
  const isMore = gained.length > lost.length === isChoice;
  const what = describe(keyword, lost.slice(common), gained.slice(common));
  yield toEffect(isMore ? 'more' : 'fewer', direction, place, what);
}
