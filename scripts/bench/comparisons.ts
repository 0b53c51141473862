/** To what the requests per second of a run are compared. */
import type { Key } from './figures.ts';
import type { Plan } from './plan.ts';
import { CONSTANT, STRAIGHTFORWARD } from './servers.ts';

export interface Comparison {
  title: string;
  baseOf(key: Key): Key;
}

export function comparisonsOf({ subjects }: Pick<Plan, 'subjects'>): Comparison[] {
  const has = (name: string) => subjects.some(({ server }) => server.name === name);
  const sizes = subjects.map(({ rows }) => rows);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  const comparisons: Comparison[] = [];
  if (has(STRAIGHTFORWARD)) {
    comparisons.push({
      title: 'times the straightforward server',
      baseOf: (key) => ({ ...key, server: STRAIGHTFORWARD }),
    });
  }
  if (has(CONSTANT)) {
    comparisons.push({
      title: 'times constant text from node:http',
      baseOf: (key) => ({ ...key, server: CONSTANT, workload: 'list-20' }),
    });
  }
  if (least < most) {
    comparisons.push({
      title: `times itself with ${least.toLocaleString('en')} pets`,
      baseOf: (key) => ({ ...key, rows: least }),
    });
  }
  return comparisons;
}
