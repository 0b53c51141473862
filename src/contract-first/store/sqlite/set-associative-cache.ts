/**
 * A cache by 64-bit ids. Ids with the same last bits share two slots, which contain the latest two values. To find one id among ten
 * thousand, a Map of bigints or an LRU cache reads memory at several locations. Every such read takes longer than a whole lookup here.
 */
export interface SetAssociativeCache<Value, Id = unknown> {
  get(id: Id): Value | undefined;
  set(id: Id, value: Value): unknown;
  clear(): void;
}

const BITS = 15;
const COUNT = 2 * 2 ** BITS;

/** Builds a cache. `maxSize` limits the sum of the values' sizes, and `sizeOf` returns the size of one value. */
export function buildSetAssociativeCache<Value>(
  maxSize: number,
  sizeOf: (value: Value) => number,
): SetAssociativeCache<Value, bigint> {
  const ids = new BigInt64Array(COUNT);
  const values = new Array<Value | undefined>(COUNT).fill(undefined);
  let size = 0;
  /** The slot that is emptied next if the cache is full. */
  let next = 0;

  /** Returns the first slot of an id; the second slot is the next one. */
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
