/**
 * Judges a contract like `npm run contract:inspect`, but without fixing it before. Returns the text of each problem.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'lossless-json';
import type { Test } from 'tap';
import { judge } from '../../../src/contract-first/cli/inspect/judgement.ts';
import type { Json } from '../../any-json.ts';

export async function judged(t: Test, document: Json): Promise<string[]> {
  const file = join(t.testdir({}), 'contract.json');
  writeFileSync(file, stringify(document) as string);
  const { rows } = await judge(file);
  return rows.flatMap(({ problems }) => problems.map(({ problem }) => problem));
}
