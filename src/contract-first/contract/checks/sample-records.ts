/**
 * Makes sample records. The checks use them to find records that break a rule over several fields, such as
 * `dependentRequired`.
 */
import { isNode, keywordsOf, type Schema } from '../../engine/schema/json.ts';
import type { AnyDescription } from '../../store/tables/description.ts';
import { isMatch, patternsIn } from '../subsets/keyword-subsets.ts';
import { isSubset } from '../subsets/subsets.ts';
import { areTypedAlike, type Checking, valuesFor } from '../subsets/witnesses.ts';
import { setBy } from './findings.ts';

export type SampleRecord = Record<string, unknown>;

interface Sampled extends Pick<AnyDescription, 'columns'> {
  /** The schemas of the fields, which all sample values fit. */
  fields: Record<string, Schema>;
  /** The schemas that the caller checks the sample records against. The samples include values at their limits. */
  wanted: Record<string, Schema>;
  /** The names of the fields that every record contains. */
  required: readonly string[];
}

/** The maximum number of sample records. */
const MOST_RECORDS = 500;

/**
 * Returns one record with only the required fields, one with all fields, and copies of both with another sample value
 * in one field. Returns no records if the type of a field differs in `wanted`, because then a handler converts its
 * values.
 */
export function recordsFor(
  { columns, fields, wanted, required }: Sampled,
  { buildCheck, isLinear }: Checking,
): SampleRecord[] {
  const patterns = isLinear ? [] : [fields, wanted].flatMap(Object.values<Schema>).flatMap(patternsIn);
  // A pattern that may be slow is tried only on texts that are short enough for it.
  const isTried = (value: unknown) =>
    patterns.length === 0 ||
    (typeof value === 'string' ? patterns.every((one) => isMatch(one, value) !== undefined) : !isNode(value));
  const samples = Object.entries(fields).map(([name, field]) => {
    const check = buildCheck(field, { name: 'it' }, () => {});
    const own = columns[name] && setBy(columns[name]);
    const other = wanted[name] as Schema;
    const isAlike = !keywordsOf(other).hidden && (own || isSubset(field, other) || areTypedAlike(field, other));
    const values = own ?? valuesFor(field, other, buildCheck);
    return { name, isAlike, values: values.filter((value) => value !== undefined && isTried(value) && !check(value)) };
  });
  if (samples.some(({ isAlike }) => !isAlike)) return [];
  const whole: SampleRecord = Object.fromEntries(samples.map(({ name, values: [first] }) => [name, first]));
  const least = Object.fromEntries(Object.entries(whole).filter(([name]) => required.includes(name)));
  const others = samples.flatMap(({ name, values }) =>
    values.flatMap((value) => [
      { ...whole, [name]: value },
      { ...least, [name]: value },
    ]),
  );
  return [least, whole, ...others].slice(0, MOST_RECORDS);
}
