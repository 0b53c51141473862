import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import t from 'tap';

const BUILT = pathToFileURL(
  `${process.env.TEST_PROGRAM}/node_modules/contract-first/dist/engine/http/server-options.js`,
);

/** Runs in its own process, because other tests give the objects of `process.nextTick` more properties. */
const PROGRAM = `
  import { executionAsyncResource } from 'node:async_hooks';
  import { setTimeout as wait } from 'node:timers/promises';
  import { KEPT_TICK } from '${BUILT}';

  for (let count = 0; count < 5; count++) {
    await wait(5);
    gc();
  }
  process.nextTick(() => console.log(%HaveSameMap(KEPT_TICK[0], executionAsyncResource())));
`;

t.test('on an idle server, V8 keeps the fast hidden class of the objects that process.nextTick creates', (t) => {
  const args = ['--expose-gc', '--allow-natives-syntax', '--input-type=module', '--eval', PROGRAM];
  // Coverage is turned off, because V8 then uses other hidden classes.
  const env = { ...process.env, NODE_V8_COVERAGE: '' };
  t.equal(execFileSync(process.execPath, args, { encoding: 'utf8', env }), 'true\n');
  t.end();
});
