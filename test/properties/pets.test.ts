import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { startService } from '../service.ts';
import { CONTRACT, readOperations } from './operations.ts';
import { actionSequences, describeAction } from './pet-actions.ts';
import { PetSession } from './pet-session.ts';
import { toProperty } from './property.ts';
import { runProperties } from './run.ts';

/** A case is a sequence of many requests: there are so many times fewer of them. */
const SHARE = 1 / 20;

interface EmptyableStore {
  store: Store;
  empty(): Promise<void>;
}

/** Emptied by way of a new one: nothing else can reach memory. */
function openMemory(): EmptyableStore {
  const open = () => openStore('sqlite::memory:');
  const store = open();
  return {
    store,
    empty: async () => {
      await store.close();
      Object.assign(store, open());
    },
  };
}

/** Emptied behind its back: what it keeps of pages must not outlive what is deleted. */
function openFile(t: Test): EmptyableStore {
  const file = `${t.testdir()}/pets.db`;
  const store = openStore(`sqlite:${file}`);
  const db = new Database(file);
  t.teardown(() => db.close());
  return { store, empty: async () => void db.exec('DELETE FROM pets') };
}

for (const [kind, open] of Object.entries({ memory: openMemory, file: openFile })) {
  t.test(`whatever is done to pets in ${kind}, in any order, agrees with a simple model`, async (t) => {
    const { store, empty } = open(t);
    const service = await startService(t, { store, keepAlive: true });
    const property = toProperty({
      name: `pets in ${kind} are as in the model`,
      cases: actionSequences(readOperations(CONTRACT)),
      toText: (actions) => actions.map(describeAction).join('\n'),
      holds: async (actions) => {
        await empty();
        const session = new PetSession(service);
        for (const action of actions) await session.perform(action);
      },
    });
    await runProperties(t, [property], SHARE);
  });
}
