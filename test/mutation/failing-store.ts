/** A store in memory that can be told to fail. */
import { openStore } from '../../src/store/open-store.ts';
import { type Store, StoreUnavailable } from '../../src/store/store.ts';
import type { ProbeRequest } from './probe.ts';

export function openFailingStore(): { store: Store; fail(how: ProbeRequest['store']): void } {
  const store = openStore({ kind: 'memory' }, { createTimeout: 5000, maxCreates: 100 });
  let failure: ProbeRequest['store'];
  const methods = Object.entries(store).map(([name, method]) => [
    name,
    (...values: unknown[]) => {
      if (failure === 'down') throw new StoreUnavailable('a probe');
      if (failure === 'broken') throw new Error('a probe');
      return method(...values);
    },
  ]);
  const fail = (how: ProbeRequest['store']) => {
    failure = how;
  };
  return { store: Object.fromEntries(methods), fail };
}
