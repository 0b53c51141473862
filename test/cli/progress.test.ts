/** Long work prints a line, so that it does not look stuck. */
import { spawnSync } from 'node:child_process';
import t from 'tap';
import { NODE_ARGS } from '../program.ts';

const PROGRESS = new URL('../../src/contract-first/cli/progress.ts', import.meta.url);

t.test('long work prints its progress on standard error even if it blocks the event loop', (t) => {
  const work = `
    const { withProgress } = await import(${JSON.stringify(PROGRESS.href)});
    const block = async () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000);
    console.log(await withProgress('The work', block, 100));
    await new Promise((resolve) => setTimeout(resolve, 300));
    console.error('after it');`;
  const args = [...NODE_ARGS, '--input-type=module', '--eval', work];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  t.equal(stdout, 'timed-out\n');
  t.match(stderr, /^(The work … \d s\n)+after it\n$/);
  t.end();
});
