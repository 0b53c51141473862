/**
 * Servers in other languages that do the same job, measured elsewhere: on a machine of the same kind, with wrk, one core and
 * 64 connections, WAL and synchronous=FULL. The multiples are of a server like the straightforward one, of the same run.
 */
export interface Peer {
  name: string;
  title: string;
  /** By workload. */
  perSecond: Record<string, number>;
  times: Record<string, number>;
}

const WORKLOADS = ['get-one', 'list-20', 'list-20-by-status', 'list-100', 'create', 'mix'];
const byWorkload = (figures: number[]) =>
  Object.fromEntries(WORKLOADS.map((name, index) => [name, figures[index] ?? 0]));

export const PEERS: Peer[] = [
  {
    name: 'rust',
    title: 'Rust: axum, rusqlite',
    perSecond: byWorkload([78_813, 40_394, 36_265, 15_829, 4_681, 30_320]),
    times: byWorkload([2.48, 4.16, 3.53, 3.07, 1.36, 3.14]),
  },
  {
    name: 'bun',
    title: 'Bun: Elysia, bun:sqlite',
    perSecond: byWorkload([70_871, 45_336, 41_396, 22_845, 4_384, 20_632]),
    times: byWorkload([2.28, 4.67, 3.97, 4.47, 1.22, 2.14]),
  },
  {
    name: 'go',
    title: 'Go: net/http, go-sqlite3',
    perSecond: byWorkload([38_224, 16_720, 15_806, 5_868, 3_581, 13_193]),
    times: byWorkload([1.29, 1.65, 1.56, 1.12, 1.03, 1.37]),
  },
];
