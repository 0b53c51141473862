/**
 * Merges a JSON Merge Patch (RFC 7396) into a value: null removes a field, objects are merged, other values are
 * replaced.
 */
export function toMerged(value: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(isObject(value) ? Object.entries(value) : []);
  for (const [name, inside] of Object.entries(patch)) {
    if (inside === null) merged.delete(name);
    else if (inside !== undefined) merged.set(name, toMerged(merged.get(name), inside));
  }
  return Object.fromEntries(merged);
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
