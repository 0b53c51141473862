/** Marks records that have internal columns, which no client may see, so that replies omit these columns. */

/**
 * The type of a record that still contains its internal columns. `Shown` is its type without them, as clients see it. A
 * copy made by `{ ...record }` does not have this mark.
 */
export declare abstract class Whole<Shown> {
  protected readonly shown: Shown;
}

/** The names of the internal columns of each marked record. */
const internals = new WeakMap<object, readonly string[]>();
/** True if a record was ever marked. As long as it is false, `toShown` need not search for marked records. */
let isUsed = false;

/** Marks a record if it has internal columns, and returns it. */
export function markWhole<Marked extends object>(record: Marked, internal: readonly string[]): Marked {
  if (internal.length === 0) return record;
  isUsed = true;
  internals.set(record, internal);
  return record;
}

export const internalOf = (value: object): readonly string[] | undefined => internals.get(value);

/** Removes internal columns from all records in a value. The value is copied only if it contains marked records. */
export function toShown(value: unknown): unknown {
  if (!isUsed || typeof value !== 'object' || value === null) return value;
  const hidden = internals.get(value);
  const entries = Object.entries(value).filter(([name]) => !hidden?.includes(name));
  const shown = entries.map(([name, one]): [string, unknown] => [name, toShown(one)]);
  if (!hidden && shown.every(([, one], index) => one === entries[index]?.[1])) return value;
  return Array.isArray(value) ? shown.map(([, one]) => one) : Object.fromEntries(shown);
}
