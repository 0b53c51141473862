/** How far an export or import is. */
import type { Part } from '../store/store.ts';
import type { Counts } from './line.ts';

/** How often to tell it, in milliseconds. */
const INTERVAL = 2000;

/** Passes the parts on, adds what they hold to the counts, and tells these from time to time. */
export async function* count<PetForm>(
  parts: AsyncIterable<Part<PetForm>>,
  counts: Counts,
  tell: (text: string) => void,
  interval = INTERVAL,
): AsyncGenerator<Part<PetForm>> {
  let due = performance.now() + interval;
  for await (const part of parts) {
    counts.keys += part.keys.length;
    counts.pets += part.pets.length;
    if (performance.now() >= due) {
      tell(`${toText(counts)} …`);
      due += interval;
    }
    yield part;
  }
}

/** `1,234 pets and 1 key` */
export function toText({ pets, keys }: Counts): string {
  return `${toNumber(pets, 'pet')} and ${toNumber(keys, 'key')}`;
}

function toNumber(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}
