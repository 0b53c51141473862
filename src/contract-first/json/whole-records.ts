/** Marks records with columns that clients do not see, so that replies leave these columns out. */

/** The type of a record with internal columns; clients see `Shown`. A copy by `{ ...record }` loses this type, and the mark. */
export declare abstract class Whole<Shown> {
  protected readonly shown: Shown;
}

/** The names of the internal columns of each marked record. */
const internals = new WeakMap<object, readonly string[]>();
/** Whether a record was ever marked: services without internal columns skip the search. */
let isUsed = false;

/** Marks a record if it has internal columns, and returns it. */
export function markWhole<Marked extends object>(record: Marked, internal: readonly string[]): Marked {
  if (internal.length === 0) return record;
  isUsed = true;
  internals.set(record, internal);
  return record;
}

export const internalOf = (value: object): readonly string[] | undefined => internals.get(value);

/** Returns a value with its records as clients see them. The value is copied only if it contains marked records. */
export function toShown(value: unknown): unknown {
  if (!isUsed || typeof value !== 'object' || value === null) return value;
  const hidden = internals.get(value);
  const entries = Object.entries(value).filter(([name]) => !hidden?.includes(name));
  const shown = entries.map(([name, one]): [string, unknown] => [name, toShown(one)]);
  if (!hidden && shown.every(([, one], index) => one === entries[index]?.[1])) return value;
  return Array.isArray(value) ? shown.map(([, one]) => one) : Object.fromEntries(shown);
}
