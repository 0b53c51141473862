/** A process that judges its share of the mutants with the project's handlers. */
import { handlers } from '../../src/generated/handlers.ts';
import { buildJudge } from './judge.ts';
import { mutantsOf } from './mutants.ts';
import type { Judged, Share } from './verdicts.ts';

process.once('message', async ({ contract, indexes }: Share) => {
  const mutants = mutantsOf(contract);
  const judge = await buildJudge(contract, handlers);
  for (const index of indexes) {
    const judged: Judged = { index, verdict: await judge.judge(mutants[index]?.build()) };
    process.send?.(judged);
  }
  await judge.close();
  process.disconnect();
});
