/** A store in memory that can be told to fail. */
import { unavailable } from '../../src/errors.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { ProbeRequest } from './probe.ts';

export function openFailingStore(): { store: Store; fail(how: ProbeRequest['store']): void } {
  const store = openStore('sqlite::memory:');
  let failure: ProbeRequest['store'];
  const methods = Object.entries(store).map(([name, method]) => [
    name,
    (...values: unknown[]) => {
      if (failure === 'down') throw unavailable('a probe');
      if (failure === 'broken') throw new Error('a probe');
      return method(...values);
    },
  ]);
  const fail = (how: ProbeRequest['store']) => {
    failure = how;
  };
  return { store: Object.fromEntries(methods), fail };
}
