/**
 * Compares schemas by the values that they allow. In a request, allowing fewer values breaks clients, because the
 * server may reject their values. In a reply, allowing more values breaks clients, because they may get values that
 * they do not expect.
 */
import { isDeepStrictEqual } from 'node:util';
import { HIDDEN as HIDDEN_AS, withoutFields } from '../../contract/read/directions.ts';
import { isSubset } from '../../contract/subsets/subsets.ts';
import { type Keywords, keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { mapSubschemas } from '../../engine/schema/subschemas.ts';
import { COMPONENT_NAME, DOCUMENTATION_KEYS } from './expand.ts';
import {
  byKey,
  type CompareRule,
  type ContractChange,
  type ContractChanges,
  compareByName,
  compareLists,
  type Direction,
  describeChange,
  type Effect,
  effectOf,
  FAILS_REQUESTS,
  FINE,
  FOR_READERS,
  growing,
  ignored,
  keyword,
  MISSING,
  MOVED,
  RENAMED,
  RETYPED,
  type Rules,
  relateSets,
  required,
  toAddition,
  UNEXPECTED,
  UNKNOWN,
  value,
} from './rules.ts';
import { compareTogether, relateChoices, reversedIn, toChoice } from './together.ts';

/**
 * Compares a keyword that restricts values by itself, without other keywords. Two different values of the keyword are
 * equal if they allow the same values.
 */
const limit: CompareRule<unknown> = function* (before, after, location, direction, key) {
  const toSchema = (said: unknown): Schema => (said === undefined ? {} : { [key]: said });
  const [old, now] = [toSchema(before), toSchema(after)];
  const isProven = [old, now].every((schema) => reversedIn(schema).length === 0);
  const [isNarrower, isWider] = isProven ? [isSubset(now, old), isSubset(old, now)] : [false, false];
  if (isNarrower && isWider) return;
  const effect = effectOf(isNarrower ? 'fewer' : isWider ? 'more' : 'other', direction);
  yield { location, what: describeChange(key, before, after), effect };
};

const LIMIT_RULES = (
  'enum pattern multipleOf minimum exclusiveMinimum maximum exclusiveMaximum minLength maxLength minItems maxItems ' +
  'minProperties maxProperties uniqueItems not propertyNames dependentRequired'
).split(' ');

const subschema = (suffix: string): CompareRule<Schema> =>
  function* (before, after, location, direction) {
    yield* compareSchemas(before, after, location + suffix, direction);
  };

/**
 * Compares the subschemas of `allOf`, `anyOf` or `oneOf`. Subschemas that both versions contain are left out, and the
 * remaining ones are compared in their order.
 */
const parts: CompareRule<Schema[]> = function* (before, after, location, direction, key) {
  const isChoice = key !== 'allOf';
  if (isChoice && !(before && after)) {
    yield { location, what: describeChange(key, before, after), effect: effectOf(after ? 'fewer' : 'more', direction) };
    return;
  }
  const { lost, gained } = compareLists(before, after);
  const common = Math.min(lost.length, gained.length);
  for (let index = 0; index < common; index++) {
    yield* compareSchemas(lost[index], gained[index], `${location}: a part of ${key}`, direction);
  }
  if (lost.length === gained.length) return;
  const isMore = gained.length > lost.length === isChoice;
  const what = describeChange(key, lost.slice(common), gained.slice(common));
  yield { location, what, effect: effectOf(isMore ? 'more' : 'fewer', direction) };
};

const KEYWORDS: Rules = {
  type: value(judgeTypes),
  format: value(judgeFormats),
  contentEncoding: value(() => RETYPED),
  contentMediaType: value(() => RETYPED),
  ...Object.fromEntries(LIMIT_RULES.map((key) => [key, limit])),
  default: value((_before, _after, direction) => (direction === 'request' ? MOVED : FOR_READERS)),
  deprecated: value(() => FINE),
  'x-extensible-enum': growing(MISSING),
  [COMPONENT_NAME]: value((before) => (before ? RENAMED : FINE)),
  const: ignored,
  $defs: ignored,
  discriminator: keyword(relateChoices),
  readOnly: value(() => FOR_READERS),
  writeOnly: value(() => FOR_READERS),
  others: subschema(': any other field'),
  items: subschema('[]'),
  allOf: parts,
  anyOf: parts,
  oneOf: parts,
};

/** Compares two schemas. A missing schema allows every value, as `{}` does. */
export function* compareSchemas(
  before: Schema = {},
  after: Schema = {},
  location: string,
  direction: Direction,
): ContractChanges {
  if (isDeepStrictEqual(before, after)) return;
  if (before === false) yield { location, what: 'may be there now', effect: effectOf('more', direction) };
  else if (after === false) yield { location, what: 'may no longer be there', effect: effectOf('fewer', direction) };
  else {
    const [old, now] = [toJudged(before, direction), toJudged(after, direction)];
    const fields = compareByName(
      (there, name) => `${there}.${name}`,
      FIELD,
      isClosed(old) ? toAdditionToClosed : toAdditionToOpen,
    );
    const all = [withFieldsOf(old, now), withFieldsOf(now, old)] as const;
    const toSent = (schema: Schema) => withoutNames(withoutFields(HIDDEN[direction], keywordsOf(schema)));
    const sent = [toSent(before), toSent(after)] as const;
    const changes = [
      ...byKey({ ...KEYWORDS, fields })(...all, location, direction, ''),
      ...compareTogether(...sent, location, direction),
    ];
    const reversed = [before, after].flatMap((schema) => reversedIn(schema));
    if (reversed.includes('outside') && !isDeepStrictEqual(...sent)) {
      changes.push({ location, what: 'stands within itself, under not, if, oneOf or contains', effect: UNKNOWN });
    }
    const isFine = reversed.length === 0 && changes.some(isProvable) && isHarmless(before, after, direction);
    for (const change of changes) yield isFine && isProvable(change) ? { ...change, effect: FINE } : change;
  }
}

/** Adds fields that only the other version names. In this version, the schema of unnamed fields applies to them. */
function withFieldsOf(schema: Keywords, { fields }: Keywords): Keywords {
  const { others } = schema;
  if (typeof others !== 'object') return schema;
  const unnamed = Object.keys(fields as object).map((name) => [name, { required: false, schema: others }]);
  return { ...schema, fields: { ...Object.fromEntries(unnamed), ...(schema.fields as object) } };
}

/**
 * True for a change with an effect that a proof can disprove. For example, the removed type null may still be allowed
 * by `anyOf`.
 */
const isProvable = ({ effect }: ContractChange) => [FAILS_REQUESTS, UNEXPECTED, UNKNOWN].includes(effect);

/**
 * For requests, true if every request that was valid is still valid. For replies, true if every reply that is valid now
 * was already valid before.
 */
function isHarmless(before: Schema, after: Schema, direction: Direction): boolean {
  const toSent = (schema: Schema) => toPlain(withoutFields(HIDDEN[direction], schema));
  const [old, now] = [toSent(before), toSent(after)];
  return direction === 'request' ? isSubset(old, now) : isSubset(now, old);
}

/**
 * Prepares a schema for a proof. Removes the names of components, and forbids the fields that are hidden in this
 * direction. A discriminator becomes an unknown keyword, so that two schemas with discriminators are equal only if
 * these are the same.
 */
function toPlain(schema: Schema): Schema {
  if (typeof schema === 'boolean') return schema;
  if (Object.values<unknown>(HIDDEN_AS).includes(schema.hidden)) return false;
  const choice = toChoice(schema);
  return choice ? { chosen: { ...withoutNames(schema), choice } } : withoutNames(schema);
}

function withoutNames(schema: Keywords): Keywords {
  const plain = mapSubschemas(schema, toPlain);
  for (const key of [COMPONENT_NAME, ...DOCUMENTATION_KEYS]) delete plain[key];
  return plain;
}

export const schema = subschema('');

/** The rule for an entry that may be required: a field, a parameter or a header. */
const FIELD = byKey({ required, schema });

/** The keyword that hides a field, by direction. */
const HIDDEN = { request: 'readOnly', response: 'writeOnly' } as const;

/**
 * Returns the schema as the rules compare it. The key `fields` contains the named fields, `others` the schema of all
 * unnamed fields, and every other keyword is a key itself.
 */
function toJudged(source: Schema, direction: Direction): Keywords {
  const schema = keywordsOf(source);
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
  // For a required field without a schema, the schema of unnamed fields applies, unless a pattern describes the field.
  const ofOthers = 'patternProperties' in rest ? {} : (additionalProperties ?? {});
  const unnamed = required.map((name) => [name, ofOthers]);
  const all: Record<string, Schema> = { ...Object.fromEntries(unnamed), ...properties };
  const fields = Object.entries(all).flatMap(([name, field]) => {
    if (!keywordsOf(field)[HIDDEN[direction]]) return [[name, { required: required.includes(name), schema: field }]];
    // A read-only field is forbidden in requests, even if the schema allows unnamed fields: the server answers such a
    // request with 400.
    return direction === 'request' && others !== false ? [[name, { required: false, schema: false }]] : [];
  });
  return {
    ...rest,
    ...('const' in rest && { enum: (rest.enum ?? [rest.const]).filter((one) => isDeepStrictEqual(one, rest.const)) }),
    ...(others !== undefined && { others }),
    ...(choice && { discriminator: choice }),
    fields: Object.fromEntries(fields),
    [COMPONENT_NAME]: nameOf(schema),
  };
}

/**
 * Returns the component name of a schema. If the schema only adds null to a component, returns the name of this
 * component, because generated clients use the same type for both.
 */
function nameOf({ [COMPONENT_NAME]: own, anyOf, oneOf }: Keywords): unknown {
  const [one, ...others] = (anyOf ?? oneOf ?? []).map(keywordsOf).filter(({ type }) => type !== 'null');
  return own ?? (others.length === 0 ? one?.[COMPONENT_NAME] : undefined);
}

const isClosed = ({ others }: Keywords) => others === false;

function toAdditionToClosed(field: { required?: unknown }, direction: Direction) {
  return direction === 'request' ? toAddition(field, direction) : { what: 'was added', effect: UNEXPECTED };
}

/**
 * Returns the change for a new field in a schema that allows unnamed fields. In a request it is breaking, because
 * clients may already send a field of this name with any value.
 */
function toAdditionToOpen(field: { required?: unknown }, direction: Direction) {
  return direction === 'request' ? { what: 'was added', effect: FAILS_REQUESTS } : toAddition(field, direction);
}

type Types = string | string[];

/**
 * Judges a change of `type`. In a request, `number` includes integers. In a reply, a change from number to integer is
 * breaking, because it changes the types of generated clients.
 */
function judgeTypes(before: Types | undefined, after: Types | undefined, direction: Direction): Effect | undefined {
  const types = (type: Types) =>
    [type].flat().flatMap((name) => (name === 'number' && direction === 'request' ? ['number', 'integer'] : name));
  const relation = before && after ? relateSets(types(before), types(after)) : before ? 'more' : 'fewer';
  if (relation === 'other' && direction === 'response') return RETYPED;
  return relation && effectOf(relation, direction);
}

/**
 * Judges a change of `format`. In a reply, every change breaks clients, because generated clients take their types from
 * the format. `binary` in a request means a file or bytes, so adding or removing it also breaks clients.
 */
function judgeFormats(before: string | undefined, after: string | undefined, direction: Direction): Effect | undefined {
  if (direction === 'response' || [before, after].includes('binary')) return RETYPED;
  const isWider = after === undefined || FREE.test(after) || (before === 'int32' && after === 'int64');
  return isWider ? FINE : FAILS_REQUESTS;
}

/** Matches formats that every value fits. */
const FREE = /^(float|double|decimal|password)$/;
