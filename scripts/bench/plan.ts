/** Types only: what a run measures, and on what. */
import type { Server } from './servers.ts';
import type { Workload } from './workloads.ts';

/** A server, and how many pets its database begins with. */
export interface Subject {
  server: Server;
  rows: number;
}

export interface Plan {
  subjects: Subject[];
  workloads: Workload[];
  rounds: number;
  /** How long each measurement takes. */
  seconds: number;
  /** Where the databases are kept while it runs. */
  directory: string;
  isPinned: boolean;
}
