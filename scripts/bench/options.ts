/** The command line -> what to measure. */
import { parseArgs } from 'node:util';
import type { Plan } from './rounds.ts';
import { SERVERS, SERVICE, STRAIGHTFORWARD } from './servers.ts';
import { WORKLOADS } from './workloads.ts';

const namesOf = (all: { name: string }[]) => all.map(({ name }) => name);

/** What each kind of run measures, if nothing else is asked for. */
const BENCH = { rows: [10_000], servers: namesOf(SERVERS), workloads: namesOf(WORKLOADS) };
const GROWTH = {
  rows: [10_000, 10_000_000],
  servers: [STRAIGHTFORWARD, SERVICE],
  workloads: ['get-one', 'list-20', 'list-20-by-status', 'create'],
};

const USAGE = `Usage: npm run bench -- [options]
  --growth               ten million pets beside ten thousand
  --rows <n>,...         so many pets, 100 or more
  --servers <name>,...   of ${namesOf(SERVERS).join(', ')}
  --only <name>,...      of ${namesOf(WORKLOADS).join(', ')}
  --rounds <n>           how often each measurement is repeated (3)
  --seconds <n>          how long each takes (5)
The results of a whole run, without --rows, --servers and --only, are written to scripts/bench.`;

export interface Options {
  plan: Pick<Plan, 'subjects' | 'workloads' | 'rounds' | 'seconds'>;
  isGrowth: boolean;
  isWhole: boolean;
}

/** @throws Error that says how it is used */
export function toOptions(args: string[]): Options {
  const values = parse(args);
  const kind = values.growth ? GROWTH : BENCH;
  const servers = pick(SERVERS, values.servers?.split(',') ?? kind.servers);
  const sizes = values.rows?.split(',').map(toNumber) ?? kind.rows;
  return {
    plan: {
      subjects: servers.flatMap((server) => sizes.map((rows) => ({ server, rows }))),
      workloads: pick(WORKLOADS, values.only?.split(',') ?? kind.workloads),
      rounds: toNumber(values.rounds),
      seconds: toNumber(values.seconds),
    },
    isGrowth: values.growth,
    isWhole: !(values.rows || values.servers || values.only),
  };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const options = {
    growth: { type: 'boolean', default: false },
    rows: text,
    servers: text,
    only: text,
    rounds: { ...text, default: '3' },
    seconds: { ...text, default: '5' },
  } as const;
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
