/**
 * Runs a property over many cases, and reports everything that is needed to repeat a failure. A test runs many
 * properties, each as one assertion.
 */
import fc, { type Arbitrary } from 'fast-check';
import type { Test } from 'tap';

/** The number of attempts to simplify a failing case. A large body could be simplified endlessly. */
const MAX_SIMPLER = 1000;

interface PropertyOptions<Case> {
  /** A sentence, such as `createPet refuses body.name maxLength`. */
  name: string;
  /** How many times more cases this property gets than one with the weight 1. */
  weight?: number;
  cases: Arbitrary<Case>;
  /** Rejects if the property does not hold for a case. */
  holds(value: Case): Promise<void>;
  /** Describes a case for people. */
  toText(value: Case): string;
}

interface RunOptions {
  seed: number;
  runs: number;
  /** The path at which fast-check found an earlier failure, to repeat only this case. */
  path?: string | undefined;
  /** Called for each case. */
  onCase?: () => void;
}

export interface Property {
  name: string;
  weight: number;
  /** Returns the report of the first failure; undefined if there is none. */
  run(options: RunOptions): Promise<string | undefined>;
}

export function toProperty<Case>({ name, weight = 1, cases, holds, toText }: PropertyOptions<Case>): Property {
  return {
    name,
    weight,
    async run({ seed, runs, path = '', onCase = () => {} }) {
      let tried: number | undefined;
      const property = fc.asyncProperty(cases, async (value) => {
        if (tried === undefined) onCase();
        else if (++tried > MAX_SIMPLER) return;
        try {
          await holds(value);
        } catch (error) {
          tried ??= 0;
          throw error;
        }
      });
      const details = await fc.check(property, { seed, path, numRuns: runs });
      if (!details.failed) return undefined;
      const { counterexample, counterexamplePath, errorInstance, numRuns, numShrinks } = details;
      const [value] = counterexample as [Case];
      return [
        `${name}: ${(errorInstance as Error).message}`,
        toText(value),
        `found in case ${numRuns} of ${runs}, made simpler ${numShrinks} times; to see it again:`,
        `SEED=${seed} CASE=${counterexamplePath?.split(':', 1)} PROPERTY='${name}' npm run test:deep`,
      ].join('\n');
    },
  };
}

/** The time between two lines of progress, in milliseconds. */
const PROGRESS_INTERVAL = 2000;

/**
 * Runs properties one after the other, with a seed that is printed. Environment variables: `RUNS` is the approximate
 * number of cases in total, `SEED` repeats the cases of an earlier run, `PROPERTY` runs only one property, and `CASE`
 * only its failing case. `share` is the part of all cases that this test gets.
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
      // Printed separately, because the report of an assertion would break its long lines.
      process.stderr.write(`\n${failure}\n\n`);
      t.fail(property.name);
    }
  }
}

/** Returns a function that counts cases, and prints progress to standard error every few seconds. */
function countCases(total: number): () => void {
  const start = Date.now();
  let reported = start;
  let count = 0;
  return () => {
    count++;
    if (Date.now() - reported < PROGRESS_INTERVAL) return;
    reported = Date.now();
    const seconds = Math.round((reported - start) / 1000);
    process.stderr.write(`${count} of ${total} cases, ${Math.floor((count / total) * 100)} %, ${seconds} s\n`);
  };
}
