/** Requests per second of servers in other languages that do the same job, in another run: see the README. */

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

/** Constant text from node:http, in the same run. */
export const PEERS_CONSTANT = 76_947;

export const PEERS: Peer[] = [
  toPeer('rust', 'Rust: axum, rusqlite', [92_188, 52_501, 45_029, 19_286, 5_519, 39_260]),
  toPeer('bun', 'Bun: Elysia, bun:sqlite', [74_821, 55_784, 47_427, 28_928, 4_823, 24_369]),
  toPeer('go', 'Go: net/http, go-sqlite3', [46_991, 21_033, 19_731, 7_389, 4_096, 16_625]),
];
