/** Counts and reports the progress of an export or import. */
import type { AnyDomain } from '../../store/description.ts';
import type { Part } from '../../store/store.ts';
import type { Counts } from './line.ts';

/** How often progress is printed, in milliseconds. */
const INTERVAL = 2000;

/** Passes the parts on, adds their keys and records to the counts, and prints the counts from time to time. */
export async function* count<Form>(
  parts: AsyncIterable<Part<Form>>,
  counts: Counts,
  domain: AnyDomain,
  tell: (text: string) => void,
  interval = INTERVAL,
): AsyncGenerator<Part<Form>> {
  let due = performance.now() + interval;
  for await (const part of parts) {
    const { keys = [], collection = '', records = [] } = part;
    counts.keys += keys.length;
    if (records.length > 0) counts.records[collection] = (counts.records[collection] ?? 0) + records.length;
    if (performance.now() >= due) {
      tell(`${describeCounts(counts, domain)} …`);
      due += interval;
    }
    yield part;
  }
}

/** `1,234 books and 1 key`, in the words of the domain. */
export function describeCounts({ records, keys }: Counts, domain: AnyDomain): string {
  const counted = Object.entries(domain).map(([name, { noun }]) => toNumber(records[name] ?? 0, noun, name));
  return `${counted.join(', ')} and ${toNumber(keys, 'key', 'keys')}`;
}

function toNumber(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}
