/** Requests per second of servers in other languages that do the same job, on another day: see the README. */

export interface Peer {
  name: string;
  title: string;
  /** By workload. */
  perSecond: Record<string, number>;
}

const WORKLOADS = ['get-one', 'list-20', 'list-20-by-status', 'list-100', 'create', 'mix'];
const toPeer = (name: string, title: string, figures: number[]): Peer => ({
  name,
  title,
  perSecond: Object.fromEntries(WORKLOADS.map((workload, index) => [workload, figures[index] ?? 0])),
});

/** Constant text from node:http, on the same day. */
export const PEERS_CONSTANT = 61_015;

export const PEERS: Peer[] = [
  toPeer('rust', 'Rust: axum, rusqlite', [78_813, 40_394, 36_265, 15_829, 4_681, 30_320]),
  toPeer('bun', 'Bun: Elysia, bun:sqlite', [70_871, 45_336, 41_396, 22_845, 4_384, 20_632]),
  toPeer('go', 'Go: net/http, go-sqlite3', [38_224, 16_720, 15_806, 5_868, 3_581, 13_193]),
];
