/** Parses the command line. A whole run, which names no servers or workloads, writes its results into this folder. */
import { parseArgs } from 'node:util';
import type { Plan } from './rounds.ts';
import { CONSTANT, SERVERS, SERVICE, STRAIGHTFORWARD, STRAIGHTFORWARD_POSTGRES } from './servers.ts';
import { WORKLOADS } from './workloads.ts';

const namesOf = (all: { name: string }[]) => all.map(({ name }) => name);

/** The defaults of each kind of run. */
const BENCH = {
  sizes: [10_000],
  servers: [CONSTANT, STRAIGHTFORWARD, SERVICE],
  workloads: namesOf(WORKLOADS),
};
const POSTGRES = { servers: [STRAIGHTFORWARD_POSTGRES, SERVICE] };
const GROWTH = {
  sizes: [10_000, 10_000_000],
  servers: [STRAIGHTFORWARD, SERVICE],
  workloads: ['get-one', 'list-20', 'list-20-by-status', 'create'],
};

const OPTIONS = {
  /** On PostgreSQL, which it starts, in place of SQLite. */
  postgres: { type: 'boolean', default: false },
  /** PostgreSQL on the core of the load generator, in place of that of the servers. */
  apart: { type: 'boolean', default: false },
  /** Ten million pets beside ten thousand. */
  growth: { type: 'boolean', default: false },
  /** Names with commas between them, as in servers.ts and workloads.ts. */
  servers: { type: 'string' },
  only: { type: 'string' },
  rounds: { type: 'string', default: '3' },
  /** How long each measurement takes. */
  seconds: { type: 'string', default: '5' },
} as const;

export interface Options {
  plan: Pick<Plan, 'subjects' | 'workloads' | 'rounds' | 'seconds'>;
  isOnPostgres: boolean;
  isApart: boolean;
  isGrowth: boolean;
  isWhole: boolean;
}

/** @throws Error that names what is not known */
export function toOptions(args: string[]): Options {
  const { values } = parseArgs({ args, options: OPTIONS });
  const { sizes, ...kind } = { ...(values.growth ? GROWTH : BENCH), ...(values.postgres && POSTGRES) };
  const servers = pick(SERVERS, values.servers?.split(',') ?? kind.servers);
  return {
    plan: {
      subjects: servers.flatMap((server) => sizes.map((rows) => ({ server, rows }))),
      workloads: pick(WORKLOADS, values.only?.split(',') ?? kind.workloads),
      rounds: Number(values.rounds),
      seconds: Number(values.seconds),
    },
    isOnPostgres: values.postgres,
    isApart: values.apart,
    isGrowth: values.growth,
    isWhole: !(values.servers || values.only || values.apart),
  };
}

/** The named ones, in their own order. */
function pick<T extends { name: string }>(all: T[], names: string[]): T[] {
  const unknown = names.find((name) => !namesOf(all).includes(name));
  if (unknown !== undefined) throw new Error(`There is no ${unknown}: name some of ${namesOf(all).join(', ')}.`);
  return all.filter(({ name }) => names.includes(name));
}
