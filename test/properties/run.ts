/** Runs properties one by one, as asserts of a test, with a seed that is printed and can be given. */
import type { Test } from 'tap';
import type { Property } from './property.ts';

/** How many milliseconds pass between two lines of progress. */
const PROGRESS_INTERVAL = 2000;

/**
 * From the environment: `RUNS`, about how many cases there are in all; `SEED`, for the cases of an earlier run; `PROPERTY`,
 * for one property only; `CASE`, for its failing case at once. The share is what this test takes of all cases.
 */
export async function runProperties(t: Test, properties: Property[], share = 1): Promise<void> {
  const { RUNS = '100', SEED = Date.now() % 2 ** 31, PROPERTY, CASE } = process.env;
  const seed = Number(SEED);
  const weights = properties.reduce((sum, { weight }) => sum + weight, 0);
  const runsOf = ({ weight }: Property) => Math.ceil((Number(RUNS) * share * weight) / weights);
  const chosen = properties.filter(({ name }) => PROPERTY === undefined || PROPERTY === name);
  const total = chosen.reduce((sum, property) => sum + runsOf(property), 0);
  t.comment(`SEED=${seed}: ${total} cases of ${chosen.length} properties`);

  const onCase = countCases(total);
  for (const property of chosen) {
    const failure = await property.run({ seed, path: CASE, runs: runsOf(property), onCase });
    if (failure === undefined) t.pass(property.name);
    else {
      // Not as a part of the assert, whose report would break its long lines.
      process.stderr.write(`\n${failure}\n\n`);
      t.fail(property.name);
    }
  }
}

/** Writes how far it is, every few seconds, to the standard error. */
function countCases(total: number): () => void {
  const start = Date.now();
  let told = start;
  let count = 0;
  return () => {
    count++;
    if (Date.now() - told < PROGRESS_INTERVAL) return;
    told = Date.now();
    const seconds = Math.round((told - start) / 1000);
    process.stderr.write(`${count} of ${total} cases, ${Math.floor((count / total) * 100)} %, ${seconds} s\n`);
  };
}
