/**
 * A cache by 64-bit ids. Each id has one slot, by its last bits, and takes it from the id that had it before: ids that follow one
 * another have different slots. To find an id among ten thousand, a Map of bigints, or a list of what was used last, would look at
 * several places in memory, each of which takes longer than all else here.
 */
export interface Slots<Value> {
  get(id: bigint): Value | undefined;
  set(id: bigint, value: Value): void;
  clear(): void;
}

const BITS = 16;
const COUNT = 2 ** BITS;

/** What is kept has at most the size `maxSize` in all, as `sizeOf` counts it. */
export function buildSlots<Value>(maxSize: number, sizeOf: (value: Value) => number): Slots<Value> {
  const ids = new BigInt64Array(COUNT);
  const values = new Array<Value | undefined>(COUNT).fill(undefined);
  let size = 0;
  /** The slot that is emptied next where there is too much. */
  let next = 0;

  const slotOf = (id: bigint) => Number(BigInt.asUintN(BITS, id));

  function empty(slot: number): void {
    const value = values[slot];
    if (value !== undefined) size -= sizeOf(value);
    values[slot] = undefined;
  }

  return {
    get: (id) => {
      const slot = slotOf(id);
      return ids[slot] === id ? values[slot] : undefined;
    },
    set: (id, value) => {
      const slot = slotOf(id);
      empty(slot);
      ids[slot] = id;
      values[slot] = value;
      size += sizeOf(value);
      for (; size > maxSize; next = (next + 1) % COUNT) empty(next);
    },
    clear: () => {
      if (size > 0) values.fill(undefined);
      size = 0;
    },
  };
}
