/** What `npm run contract:use` refuses of a contract, before it is set right. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'lossless-json';
import type { Test } from 'tap';
import { judge } from '../../scripts/contract-use/judgement.ts';
import type { Json } from '../any-json.ts';

export async function judged(t: Test, document: Json): Promise<string[]> {
  const file = join(t.testdir({}), 'contract.json');
  writeFileSync(file, stringify(document) as string);
  const { rows } = await judge(file);
  return rows.flatMap(({ problems }) => problems.map(({ problem }) => problem));
}
