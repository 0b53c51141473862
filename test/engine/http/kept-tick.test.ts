import { executionAsyncResource } from 'node:async_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { KEPT_TICK } from '../../../src/contract-first/engine/http/server-options.ts';

setFlagsFromString('--expose-gc');
setFlagsFromString('--allow-natives-syntax');
const collect: () => void = runInNewContext('gc');
const haveSameMap: (one: unknown, other: unknown) => boolean = runInNewContext('(a, b) => %HaveSameMap(a, b)');

t.test('V8 keeps the hidden class of the objects of process.nextTick while a server is idle', async (t) => {
  for (let count = 0; count < 5; count++) {
    await wait(5);
    collect();
  }
  const [fresh] = await new Promise<object[]>((resolve) => {
    process.nextTick(() => resolve([executionAsyncResource()]));
  });
  t.ok(haveSameMap(KEPT_TICK[0], fresh));
});
