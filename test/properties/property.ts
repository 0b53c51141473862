/** One property over many cases, and the report of a failure: all that is needed to see it again. */
import fc, { type Arbitrary } from 'fast-check';

/** How many cases are tried at most to make a failing one simpler: there are endless ones of a large body. */
const MAX_SIMPLER = 1000;

interface PropertyOptions<Case> {
  /** A sentence: `createPet refuses body.name maxLength`. */
  name: string;
  /** How many times the share of the others it gets. */
  weight?: number;
  cases: Arbitrary<Case>;
  /** Rejects where a case fails. */
  holds(value: Case): Promise<void>;
  /** The case for people. */
  toText(value: Case): string;
}

export interface RunOptions {
  seed: number;
  runs: number;
  /** Where fast-check found the failure, to go there at once. */
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
