/** A line for each server that was measured, for the tables. */
import { format, type Key, type Life, type Measurement, type Results, ratios, select } from './figures.ts';
import type { Plan } from './rounds.ts';
import { CONSTANT, SERVICE, STRAIGHTFORWARD_POSTGRES } from './servers.ts';

/** Figures of each round, by the name of a workload; none where there are none. */
export interface Line {
  name: string;
  title: string;
  values(workload: string, figure: keyof Measurement): number[];
  /** Requests per second, as multiples. */
  times(workload: string): number[];
}

export const isOnPostgres = ({ subjects }: Pick<Plan, 'subjects'>): boolean =>
  subjects.some(({ server }) => server.name === STRAIGHTFORWARD_POSTGRES);

/** The server that multiples refer to: itself, if it was measured with several numbers of pets. */
export function toBase({ subjects }: Pick<Plan, 'subjects'>): { title: string; of(key: Key): Key } {
  const sizes = subjects.map(({ rows }) => rows);
  const least = Math.min(...sizes);
  if (least < Math.max(...sizes)) {
    return { title: `times itself with ${format(least)} pets`, of: (key) => ({ ...key, rows: least }) };
  }
  return isOnPostgres({ subjects })
    ? { title: 'times the straightforward server', of: (key) => ({ ...key, server: STRAIGHTFORWARD_POSTGRES }) }
    : { title: 'times constant text, node:http', of: (key) => ({ ...key, server: CONSTANT, workload: 'list-20' }) };
}

export function toLines(
  plan: Plan,
  { measurements, lives }: Results,
): (Line & { life(figure: keyof Life): number[] })[] {
  const base = toBase(plan);
  const isOneSize = plan.subjects.every(({ rows }) => rows === plan.subjects[0]?.rows);
  return plan.subjects.map(({ server: { name, title }, rows }) => {
    const words = isOneSize ? title : `${title}, ${format(rows)} pets`;
    const keyOf = (workload: string) => ({ server: name, rows, workload });
    return {
      name,
      title: name === SERVICE ? `**${words}**` : words,
      values: (workload, figure) => select(measurements, keyOf(workload)).map((one) => one[figure] as number),
      times: (workload) => ratios(measurements, keyOf(workload), base.of(keyOf(workload))),
      life: (figure) =>
        lives.filter((life) => life.server === name && life.rows === rows).map((life) => life[figure] as number),
    };
  });
}
