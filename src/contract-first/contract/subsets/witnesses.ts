/** Finds counterexamples: values that fit one schema of a field and not the other. */
import type { BuildCheck } from '../../engine/schema/checks.ts';
import { type Keywords, keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { mergeAllOf } from '../../engine/schema/value-types.ts';
import { partsOf } from './impossible.ts';
import { fieldOf, isMatch, patternsIn, valuesOf } from './keyword-subsets.ts';
import { isSubset, type Steps } from './subsets.ts';

/** A field with values that may not fit the other schema, or the compared value itself. */
export interface Unfit {
  /** The path from the compared value to the field: `.zip`, or empty for the value itself. */
  path: string;
  /** The counterexample; undefined if none is known. */
  witness: Witness | undefined;
}

/** A counterexample, and the first problem that the check reports for it. The problem calls the value `it`. */
export interface Witness {
  value: unknown;
  problem: string;
}

export interface Compared {
  buildCheck: BuildCheck;
  /** True if all patterns are known to run in linear time. Any other pattern could run for years on a long text. */
  isLinear: boolean;
  /** The remaining number of comparisons for all proofs together. */
  steps: Steps;
}

/**
 * Finds the fields of `given` with values that do not fit `wanted`. Null always fits, because it represents an absent
 * field. If the schemas have different types or listed values, nothing is returned, because then TypeScript already
 * forces the handler to convert the values.
 */
export function findUnfit(given: Schema, wanted: Schema, parts: Compared, path = ''): Unfit[] {
  if (given === wanted || parts.steps.left <= 0 || !areTypedAlike(given, wanted)) return [];
  if (isSubset(given, { anyOf: [wanted, { type: 'null' }] }, parts.steps)) return [];
  const inside = pairsWithin(given, wanted).flatMap(([more, one, other]) => findUnfit(one, other, parts, path + more));
  if (inside.some(({ witness }) => witness)) return inside;
  const witness = findWitness(valuesFor(given, wanted, parts.buildCheck), given, wanted, parts);
  return witness || inside.length === 0 ? [{ path, witness }] : inside;
}

/** Returns pairs of schemas to compare: one pair for each field of `given`, and one for the items. */
function pairsWithin(given: Schema, wanted: Schema): [path: string, given: Schema, wanted: Schema][] {
  const [own, other] = [mergeAllOf(given), mergeAllOf(wanted)];
  const fields = Object.entries(own.properties ?? {}).map(([name, field]): [string, Schema, Schema] => [
    `.${name}`,
    field,
    fieldOf(name, other),
  ]);
  return own.items && other.items ? [...fields, ['', own.items, other.items]] : fields;
}

export function areTypedAlike(given: Schema, wanted: Schema): boolean {
  const [own, others] = [typesIn(given), typesIn(wanted)];
  const listed = valuesOf(mergeAllOf(wanted));
  return own.length > 0 && !listed && own.every((type) => type === 'null' || others.includes(type));
}

const isPart = (keyword: string) => /^(all|any|one)Of$/.test(keyword);

/** Returns the types of a schema as TypeScript sees them. */
function typesIn(schema: Schema): string[] {
  return partsOf(schema, isPart).flatMap(({ type = [], format, enum: values = [], properties }) => {
    const own = [type].flat().map((one) => (one !== 'integer' ? one : format === 'int64' ? 'bigint' : 'number'));
    const implied = properties ? ['object'] : values.map((value) => typeof value);
    return own.length > 0 ? own : implied;
  });
}

export type Checking = Omit<Compared, 'steps'>;

/** Finds the first of these values that fits `given` and does not fit `wanted`. */
export function findWitness(
  values: readonly unknown[],
  given: Schema,
  wanted: Schema,
  { buildCheck, isLinear }: Checking,
): Witness | undefined {
  const [problemsOf, check] = [given, wanted].map((one) => buildCheck(one, { name: 'it', at: '/it' }, () => {}));
  const patterns = isLinear ? [] : [given, wanted].flatMap(patternsIn);
  const isQuick = (value: unknown) =>
    typeof value !== 'string' || patterns.every((pattern) => isMatch(pattern, value) !== undefined);
  for (const value of values) {
    if (!isQuick(value) || problemsOf?.(value)) continue;
    const [problem] = check?.(value) ?? [];
    if (problem) return { value, problem: String(problem) };
  }
  return undefined;
}

const SAMPLE_TEXTS = ['x', 'X', '0', ' ', '-'];
const SAMPLE_VALUES = [0.5, true, '2026-01-31', '2026-01-31T12:00:00Z', 'a@b.example', 'https://a.example/', '/a'];
const UUID = '00000000-0000-4000-8000-000000000000';

/** The maximum number of letters in a text that is tried. */
const MOST_LETTERS = 100_000;
const MOST_ITEMS = 1000;

/** Returns sample values at the limits of both schemas. Not all of these values fit `given`. */
export function valuesFor(given: Schema, wanted: Schema, buildCheck: BuildCheck): unknown[] {
  const parts = [given, wanted].flatMap((schema) => partsOf(keywordsOf(schema), isPart));
  const bounds = parts.flatMap(({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }) =>
    [minimum, maximum, exclusiveMinimum, exclusiveMaximum].filter((one) => one !== undefined),
  );
  const numbers = [0, ...bounds].flatMap((bound) => [-1, 0, 1].map((step) => add(bound, step)));
  const lengths = limitsOf(parts, 'minLength', 'maxLength', MOST_LETTERS);
  const texts = lengths.flatMap((length) => SAMPLE_TEXTS.map((text) => text.repeat(length)));
  const listed = parts.flatMap(({ examples = [], enum: values = [], const: only = values[0] }) => [
    only,
    ...examples,
    ...values,
  ]);
  const { type, items = true, required = [], additionalProperties: others = true, ...own } = mergeAllOf(given);
  const values = [...listed, ...texts, ...numbers, ...SAMPLE_VALUES, UUID];
  const types = [type].flat();
  if (types.includes('array')) {
    const item = sampleOf(items, buildCheck);
    values.push(...limitsOf(parts, 'minItems', 'maxItems', MOST_ITEMS).map((length) => Array(length).fill(item)));
  }
  if (types.includes('object')) {
    const least = Object.fromEntries(required.map((name) => [name, sampleOf(fieldOf(name, own), buildCheck)]));
    values.push(least, { ...least, another: sampleOf(others, buildCheck) });
  }
  return values;
}

function add(bound: number | bigint, step: number): number | bigint {
  return typeof bound === 'bigint' ? bound + BigInt(step) : bound + step;
}

/** Returns the limits of lengths in these schemas, and for each limit the next shorter and the next longer length. */
function limitsOf(parts: Keywords[], least: string, most: string, limit: number): number[] {
  const all = parts.flatMap(({ [least]: low = 1, [most]: high = 1 }) => [low, high] as number[]);
  const beside = [...new Set(all.flatMap((length) => [length - 1, length, length + 1]))];
  return beside.filter((length) => length >= 0 && length <= limit).sort((one, other) => one - other);
}

/** Finds a value that fits the schema. Returns undefined if none of the tried values fits. */
function sampleOf(schema: Schema, buildCheck: BuildCheck): unknown {
  const check = buildCheck(schema, { name: 'it' }, () => {});
  return valuesFor(schema, true, buildCheck).find((value) => value !== undefined && !check(value));
}
