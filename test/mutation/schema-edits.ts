/** Every edit of one schema: its type, format, bounds, lengths, pattern, values, fields and what is required of them. */
import type { Json } from '../../src/contract/contract.ts';
import { type Edit, type Path, put, rename, take, together } from './edit.ts';

const OTHER_TYPES: Record<string, string[]> = {
  string: ['integer', 'boolean', 'object'],
  integer: ['string', 'number', 'boolean'],
  object: ['array', 'string'],
  array: ['object', 'string'],
};
const OTHER_FORMATS: Record<string, string> = { int32: 'int64', int64: 'int32', date: 'date-time' };
const BOUNDS: Record<string, string[]> = {
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  string: ['minLength', 'maxLength'],
  array: ['minItems', 'maxItems'],
};
/** Where a default or an enum is added. */
const NEW_VALUES: Record<string, Json> = { string: 'Rex', integer: 7 };
/** Where a bound is added: tight enough to be noticed. */
const NEW_BOUNDS: Record<string, number> = { minLength: 2, maxLength: 2, minItems: 1, maxItems: 1 };

/** The schema, and the schemas inside it; what is behind a `$ref` stands elsewhere. */
export function* schemaEdits(place: Path, schema: Json): Generator<Edit> {
  if (schema.$ref) return;
  yield* typeEdits(place, schema);
  for (const key of BOUNDS[schema.type] ?? []) yield* boundEdits(place, schema, key);
  if (schema.type === 'integer') yield put(place, 'multipleOf', 2, 'multipleOf added');
  if (schema.type === 'string') yield* patternEdits(place, schema);
  yield* enumEdits(place, schema, 'enum');
  if (schema['x-extensible-enum']) yield* enumEdits(place, schema, 'x-extensible-enum');
  yield* defaultEdits(place, schema);
  for (const index of (schema.examples ?? []).keys()) {
    yield put([...place, 'examples'], index, { broken: true }, 'example broken');
  }
  if (schema.type === 'object') yield* fieldEdits(place, schema);
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    yield* schemaEdits([...place, 'properties', name], field);
  }
  if (schema.items) yield* schemaEdits([...place, 'items'], schema.items);
}

function* typeEdits(place: Path, { type, format }: Json): Generator<Edit> {
  yield take(place, 'type', 'type removed');
  yield put(place, 'type', [type, 'null'], 'type made nullable');
  for (const other of OTHER_TYPES[type] ?? []) yield put(place, 'type', other, 'type changed');
  if (format) {
    yield take(place, 'format', 'format removed');
    yield put(place, 'format', OTHER_FORMATS[format] ?? 'date', 'format changed');
  } else if (type === 'string') yield put(place, 'format', 'date', 'format added');
  yield put(place, 'format', 'no-such-format', 'format made up');
}

function* boundEdits(place: Path, schema: Json, key: string): Generator<Edit> {
  const bound = schema[key];
  if (bound === undefined) {
    const twin = schema[key.replace('exclusiveM', 'm')];
    yield put(place, key, NEW_BOUNDS[key] ?? twin ?? (key.endsWith('inimum') ? 2 : 50), `${key} added`);
    return;
  }
  yield* numberEdits(place, key, bound);
  if (key.endsWith('imum')) yield rename(place, key, `exclusiveM${key.slice(1)}`, `${key} made exclusive`);
}

/** A number that is there. */
export function* numberEdits(place: Path, key: string, value: number): Generator<Edit> {
  yield put(place, key, value + 1, `${key} raised`);
  yield put(place, key, value - 1, `${key} lowered`);
  yield take(place, key, `${key} removed`);
}

function* patternEdits(place: Path, { pattern }: Json): Generator<Edit> {
  yield put(place, 'pattern', '^[a-z]+$', pattern ? 'pattern changed' : 'pattern added');
  if (pattern) yield take(place, 'pattern', 'pattern removed');
}

function* enumEdits(place: Path, schema: Json, key: string): Generator<Edit> {
  const values: Json[] | undefined = schema[key];
  if (!values) {
    const value = schema.default ?? NEW_VALUES[schema.type];
    if (value !== undefined) yield put(place, key, [value], `${key} added`);
    return;
  }
  yield take(place, key, `${key} removed`);
  yield put(place, key, [...values, 'one_more'], `value added to ${key}`);
  for (const [index, value] of values.entries()) {
    yield { ...take([...place, key], index, `value removed from ${key}`), detail: value };
    yield { ...put([...place, key], index, `${value}_x`, `value of ${key} renamed`), detail: value };
  }
}

function* defaultEdits(place: Path, { default: value, enum: values, type }: Json): Generator<Edit> {
  if (typeof value === 'number') yield* numberEdits(place, 'default', value);
  else if (value !== undefined) yield take(place, 'default', 'default removed');
  else {
    const added = values?.[0] ?? NEW_VALUES[type];
    if (added !== undefined) yield put(place, 'default', added, 'default added');
  }
}

function* fieldEdits(place: Path, schema: Json): Generator<Edit> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const fields = [...place, 'properties'];
  for (const name of Object.keys(properties)) {
    const renamed = `${name}X`;
    if (!required.includes(name)) {
      yield { ...put(place, 'required', [...required, name], 'field made required'), detail: name };
      yield take(fields, name, 'field removed');
      yield rename(fields, name, renamed, 'field renamed');
      continue;
    }
    const others = required.filter((other: string) => other !== name);
    const without = put(place, 'required', others, 'field no longer required');
    yield { ...without, detail: name };
    yield together('field removed', [take(fields, name, ''), without]);
    const instead = put(place, 'required', [...others, renamed], '');
    yield together('field renamed', [rename(fields, name, renamed, ''), instead]);
  }
  const added = put(fields, 'extra', { description: 'One more.', type: 'string' }, 'field added');
  yield added;
  yield together('required field added', [added, put(place, 'required', [...required, 'extra'], '')]);
  yield take(place, 'required', 'required removed');
  if (additionalProperties === undefined)
    yield put(place, 'additionalProperties', false, 'additional fields forbidden');
  else {
    yield put(place, 'additionalProperties', !additionalProperties, 'additional fields turned round');
    yield take(place, 'additionalProperties', 'additional fields left open');
  }
}
