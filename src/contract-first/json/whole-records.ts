/** Records with columns that clients do not see: how they are marked, and how a reply leaves these columns out. */

/** The type of a record with internal columns; clients see `Shown`. A copy by `{ ...record }` has not this type, nor the mark. */
export declare abstract class Whole<Shown> {
  protected readonly shown: Shown;
}

/** The names of the internal columns of each marked record. */
const internals = new WeakMap<object, readonly string[]>();
/** Services without internal columns pay nothing. */
let isUsed = false;

/** Marks a record, if it has internal columns, and returns it. */
export function markWhole<Marked extends object>(record: Marked, internal: readonly string[]): Marked {
  if (internal.length === 0) return record;
  isUsed = true;
  internals.set(record, internal);
  return record;
}

export const internalOf = (value: object): readonly string[] | undefined => internals.get(value);

/** The value with its records as clients see them. It is copied only if it has marked records. */
export function toShown(value: unknown): unknown {
  if (!isUsed || typeof value !== 'object' || value === null) return value;
  const hidden = internals.get(value);
  const entries = Object.entries(value).filter(([name]) => !hidden?.includes(name));
  const shown = entries.map(([name, one]): [string, unknown] => [name, toShown(one)]);
  if (!hidden && shown.every(([, one], index) => one === entries[index]?.[1])) return value;
  return Array.isArray(value) ? shown.map(([, one]) => one) : Object.fromEntries(shown);
}
