import { spawnSync } from 'node:child_process';
import t from 'tap';

const MODULE = new URL('../../src/process/young-space.ts', import.meta.url);

/** Makes objects of which many live for a while, and prints how large the space for new ones is by then, in MB. */
const CHURN = `
import { getHeapSpaceStatistics } from 'node:v8';
let kept = [];
for (let count = 0; count < 1e6; count++) {
  kept.push({ count });
  if (kept.length > 1e5) kept = kept.slice(5e4);
}
const { space_size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
console.log(space_size / 2 ** 20);`;

function churn(before: string): number {
  const args = [...process.execArgv, '--input-type=module', '--eval', before + CHURN];
  return Number(spawnSync(process.execPath, args, { encoding: 'utf8' }).stdout);
}

t.test('the space for new objects no longer grows', async (t) => {
  const grown = churn('');
  const kept = churn(`import { keepYoungSpace } from '${MODULE}'; keepYoungSpace();`);
  t.ok(kept > 0 && kept < grown / 2, `${kept} MB in place of ${grown} MB`);
});
