/**
 * Runs a property over many cases, and reports everything that is needed to repeat a failure. Also runs many properties as asserts of a
 * test.
 */
import fc, { type Arbitrary } from 'fast-check';
import type { Test } from 'tap';

/** The most cases that are tried to make a failing one simpler, since a large body has endless ones. */
const MAX_SIMPLER = 1000;

interface PropertyOptions<Case> {
  /** A sentence: `createPet refuses body.name maxLength`. */
  name: string;
  /** The weight of the property: the multiple of the runs that others get. */
  weight?: number;
  cases: Arbitrary<Case>;
  /** Rejects where a case fails. */
  holds(value: Case): Promise<void>;
  /** Describes a case for people. */
  toText(value: Case): string;
}

interface RunOptions {
  seed: number;
  runs: number;
  /** The path at which fast-check found the failure, to go there directly. */
  path?: string | undefined;
  /** Called for each case. */
  onCase?: () => void;
}

export interface Property {
  name: string;
  weight: number;
  /** The report of the failure; nothing where there is none. */
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

/** How many milliseconds pass between two lines of progress. */
const PROGRESS_INTERVAL = 2000;

/**
 * One by one, with a seed that is printed and can be given. From the environment: `RUNS`, about how many cases there are in all; `SEED`, for the cases of an earlier run; `PROPERTY`,
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
