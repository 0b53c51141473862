/**
 * A cache with 64-bit ids as keys. Ids with equal last bits share two slots, which contain the two latest values for
 * such ids. The cache is faster than a Map of bigints or an LRU cache: with ten thousand ids, these read memory at
 * several locations for each lookup, and a single one of these reads takes longer than a whole lookup here.
 */
export interface SetAssociativeCache<Value, Id = unknown> {
  get(id: Id): Value | undefined;
  set(id: Id, value: Value): unknown;
  clear(): void;
}

const BITS = 15;
const COUNT = 2 * 2 ** BITS;

/** Builds a cache. `maxSize` limits the sum of the sizes of all values; `sizeOf` returns the size of a value. */
export function buildSetAssociativeCache<Value>(
  maxSize: number,
  sizeOf: (value: Value) => number,
): SetAssociativeCache<Value, bigint> {
  const ids = new BigInt64Array(COUNT);
  const values = new Array<Value | undefined>(COUNT).fill(undefined);
  let size = 0;
  /** The slot to empty next if the cache is too large. */
  let next = 0;

  /** Returns the first of the two slots of an id. The second slot is the one after it. */
  const slotOf = (id: bigint) => 2 * Number(BigInt.asUintN(BITS, id));

  function put(slot: number, id: bigint, value: Value | undefined): void {
    const before = values[slot];
    if (before !== undefined) size -= sizeOf(before);
    if (value !== undefined) size += sizeOf(value);
    ids[slot] = id;
    values[slot] = value;
  }

  return {
    get: (id) => {
      const slot = slotOf(id);
      if (ids[slot] === id) return values[slot];
      return ids[slot + 1] === id ? values[slot + 1] : undefined;
    },
    set: (id, value) => {
      const slot = slotOf(id);
      const last = ids[slot] as bigint;
      if (last !== id) put(slot + 1, last, values[slot]);
      put(slot, id, value);
      for (; size > maxSize; next = (next + 1) % COUNT) put(next, 0n, undefined);
    },
    clear: () => {
      if (size > 0) values.fill(undefined);
      size = 0;
    },
  };
}
