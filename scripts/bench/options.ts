/** The command line -> what to measure, and where the results go. */
import { parseArgs } from 'node:util';
import type { Plan } from './plan.ts';
import { SERVERS, SERVICE, STRAIGHTFORWARD } from './servers.ts';
import { WORKLOADS } from './workloads.ts';

const namesOf = (all: { name: string }[]) => all.map(({ name }) => name);

/** What each kind of run measures, if nothing else is asked for. */
const BENCH = { rows: [10_000], servers: namesOf(SERVERS), workloads: namesOf(WORKLOADS), rounds: 5 };
const GROWTH = {
  rows: [10_000, 100_000, 1_000_000, 10_000_000],
  servers: [STRAIGHTFORWARD, SERVICE],
  workloads: ['get-one', 'list-20', 'list-20-by-status', 'create'],
  rounds: 3,
};
const SECONDS = 5;

const USAGE = `Usage: npm run bench -- [options]
  --growth               how it goes on with 10 thousand to 10 million pets
  --rows <n>,...         so many pets, 100 or more
  --servers <name>,...   of ${namesOf(SERVERS).join(', ')}
  --only <name>,...      of ${namesOf(WORKLOADS).join(', ')}
  --rounds <n>           how often each measurement is repeated (${BENCH.rounds}, with --growth ${GROWTH.rounds})
  --seconds <n>          how long each takes (${SECONDS})
  --quick                one round of 2 seconds: does it work?
  --out <folder>         where the results go; without it, those of a whole run go to scripts/bench/results`;

export interface Options {
  plan: Pick<Plan, 'subjects' | 'workloads' | 'rounds' | 'seconds'>;
  isGrowth: boolean;
  /** The folder for them; undefined when they are not to be kept. */
  out: string | undefined;
}

/** @throws Error that says how it is used */
export function toOptions(args: string[], results: string): Options {
  const values = parse(args);
  const kind = values.growth ? GROWTH : BENCH;
  const servers = pick(SERVERS, values.servers?.split(',') ?? kind.servers);
  const sizes = values.rows?.split(',').map(toNumber) ?? kind.rows;
  const isWhole = !(values.quick || values.rows || values.servers || values.only);
  return {
    plan: {
      subjects: servers.flatMap((server) => sizes.map((rows) => ({ server, rows }))),
      workloads: pick(WORKLOADS, values.only?.split(',') ?? kind.workloads),
      rounds: values.quick ? 1 : toNumber(values.rounds ?? String(kind.rounds)),
      seconds: values.quick ? 2 : toNumber(values.seconds ?? String(SECONDS)),
    },
    isGrowth: values.growth ?? false,
    out: values.out ?? (isWhole ? results : undefined),
  };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = {
    growth: flag,
    rows: text,
    servers: text,
    only: text,
    rounds: text,
    seconds: text,
    quick: flag,
    out: text,
  };
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${USAGE}`);
  }
}

/** Those that are named, in their own order. */
function pick<T extends { name: string }>(all: T[], names: string[]): T[] {
  const unknown = names.find((name) => !namesOf(all).includes(name));
  if (unknown !== undefined) throw new Error(`There is no ${unknown}.\n\n${USAGE}`);
  return all.filter(({ name }) => names.includes(name));
}

function toNumber(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`${text} is no number from 1 on.\n\n${USAGE}`);
  return Number(text);
}
