/**
 * Records calls of concurrent clients on several stores, and checks whether a single copy of the pets could have given
 * the same answers.
 */
import { listPets, type OwnStore } from './database.ts';

/** A call with the times at which it began and ended, in milliseconds. Ids are those of pets. */
export type Call = { from: number; to: number } & (
  | { kind: 'create'; id: bigint }
  | { kind: 'get'; id: bigint; isFound: boolean }
  | { kind: 'list'; after: bigint; ids: bigint[]; isLast: boolean }
);

const NONE = -1n;
const ALL = 2n ** 63n;

/**
 * Returns the reasons why a history of calls is not linearizable; empty if it is. Pets become visible in the order of
 * their ids. So each answer proves that, at some moment during its call, the highest visible id was at least, or at
 * most, a certain id. It is a violation if an answer proves less than another call had already proved before this call
 * began.
 */
export function violationsOf(calls: Call[]): string[] {
  const ids = calls.flatMap((call) => (call.kind === 'create' ? [call.id] : [])).sort((a, b) => (a < b ? -1 : 1));
  const violations = ids.filter((id, index) => id === ids[index - 1]).map((id) => `${id} was given twice`);
  for (const call of calls) if (call.kind === 'list') violations.push(...holesIn(call, ids));

  const events = calls
    .flatMap((call) => [
      { at: call.from, isEnd: false, call },
      { at: call.to, isEnd: true, call },
    ])
    .sort((a, b) => a.at - b.at || Number(a.isEnd) - Number(b.isEnd));
  const known = new Map<Call, bigint>();
  let highest = NONE;
  for (const { isEnd, call } of events) {
    if (!isEnd) {
      known.set(call, highest);
      continue;
    }
    const before = known.get(call) as bigint;
    if (mostIn(call, ids) < before) violations.push(`${toText(call)} came after ${before} was visible`);
    const least = leastIn(call);
    if (least > highest) highest = least;
  }
  return violations;
}

/** Returns the created pets that a page skipped: those between its cursor and its last pet that it does not contain. */
function holesIn({ after, ids }: Call & { kind: 'list' }, created: bigint[]): string[] {
  const last = ids.at(-1) ?? after;
  const seen = new Set(ids);
  const between = created.slice(placeAfter(after, created), placeAfter(last, created));
  return between.filter((id) => !seen.has(id)).map((id) => `a page passed ${id}`);
}

/** Returns the index of the first id after this one. */
function placeAfter(id: bigint, ascending: bigint[]): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] as bigint) > id) high = middle;
    else low = middle + 1;
  }
  return low;
}

function leastIn(call: Call): bigint {
  if (call.kind === 'create') return call.id;
  if (call.kind === 'get') return call.isFound ? call.id : NONE;
  return call.ids.at(-1) ?? NONE;
}

function mostIn(call: Call, created: bigint[]): bigint {
  if (call.kind === 'create') return call.id - 1n;
  if (call.kind === 'get') return call.isFound ? ALL : call.id - 1n;
  if (!call.isLast) return ALL;
  const last = call.ids.at(-1) ?? call.after;
  return (created[placeAfter(last, created)] ?? ALL) - 1n;
}

const toText = (call: Call) => JSON.stringify(call, (_, value) => (typeof value === 'bigint' ? String(value) : value));

/** Lets clients create, get and list pets on these stores for this time. Each client makes at least five rounds. */
export async function record(stores: OwnStore[], clients: number, milliseconds: number): Promise<Call[]> {
  const calls: Call[] = [];
  const end = performance.now() + milliseconds;
  let newest = 0n;

  async function timed(ask: () => Promise<Omit<Call, 'from' | 'to'>>): Promise<void> {
    const from = performance.now();
    const reported = await ask();
    calls.push({ ...reported, from, to: performance.now() } as Call);
  }

  async function play(client: number): Promise<void> {
    for (let turn = client; performance.now() < end || turn < client + 5; turn++) {
      const store = stores[turn % stores.length] as OwnStore;
      const other = stores[(turn + 1) % stores.length] as OwnStore;
      let id = newest + 1n;
      await timed(async () => {
        ({ id } = await store.records.create({ name: `Pet ${client}`, categoryId: BigInt(turn) }));
        if (id > newest) newest = id;
        return { kind: 'create', id };
      });
      // The pet that this client created, and the next id, which may not exist yet.
      for (const wanted of [id, newest + 1n]) {
        await timed(async () => ({
          kind: 'get',
          id: wanted,
          isFound: (await other.records.get(wanted)) !== undefined,
        }));
      }
      await timed(async () => {
        const after = newest > 20n ? newest - BigInt(turn % 20) : 0n;
        const { body, next } = await listPets(other, { limit: 10, after });
        const ids = [...body.text.matchAll(/\{"id":(\d+),/g)].map(([, digits]) => BigInt(digits as string));
        return { kind: 'list', after, ids, isLast: next === undefined };
      });
    }
  }

  await Promise.all(Array.from({ length: clients }, (_, client) => play(client)));
  return calls;
}
