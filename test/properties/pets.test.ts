import t, { type Test } from 'tap';
import { Sqlite } from '../../src/contract-first/store/sqlite/sqlite.ts';
import { type OwnStore, openUrl } from '../database.ts';
import { openPostgresUrl, schemaOf, startPostgres } from '../postgres.ts';
import { startService } from '../service.ts';
import { withKey } from './keys.ts';
import { CONTRACT, type Operation, readOperations } from './operations.ts';
import { actionSequences, describeAction, PetSession } from './pet-session.ts';
import { runProperties, toProperty } from './property.ts';
import { requests, toCurl } from './requests.ts';

/** The share of cases that these tests get. It is small, because each case is a sequence of many requests. */
const SHARE = 1 / 20;

interface EmptyableStore {
  store: OwnStore;
  empty(): Promise<void>;
}

/**
 * A store in memory. It is emptied by opening a new store, because no other connection can reach a database in memory.
 */
function openMemory(): EmptyableStore {
  const open = () => openUrl('sqlite::memory:');
  const store = open();
  const { records } = store;
  return {
    store,
    empty: async () => {
      await store.close();
      const next = open();
      // The server keeps the objects that it got at its start, so the new store is copied into them.
      Object.assign(records, next.records);
      Object.assign(store, next, { records, collections: { pets: records } });
    },
  };
}

/** A store in a file. Another connection empties it, so that the test fails if cached pages still show deleted pets. */
function openFile(t: Test): EmptyableStore {
  const file = `${t.testdir()}/pets.db`;
  const store = openUrl(`sqlite:${file}`);
  const db = new Sqlite(file);
  t.teardown(() => db.close());
  return { store, empty: async () => void db.exec('DELETE FROM pets; DELETE FROM idempotency_keys') };
}

const postgres = await startPostgres(t);

async function openOnPostgres(): Promise<EmptyableStore> {
  const url = postgres.newUrl();
  const limits = { createTimeout: 60_000, maxCreates: 10_000 };
  const store = await openPostgresUrl(url, limits, 60_000);
  const sql = `SET search_path = ${schemaOf(url)}; DELETE FROM pets; DELETE FROM idempotency_keys`;
  return { store, empty: async () => void (await postgres.execute(sql)) };
}

for (const [kind, open] of Object.entries({ memory: openMemory, file: openFile, PostgreSQL: openOnPostgres })) {
  t.test(`any sequence of requests for pets in ${kind} gets the same replies as from a simple model`, async (t) => {
    const { store, empty } = await open(t);
    const service = await startService(t, { store, keepAlive: true });
    const property = toProperty({
      name: `pets in ${kind} behave as in the simple model`,
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

  t.test(
    `the text of a pet that is read from ${kind} equals the text that the contract's serializer writes`,
    async (t) => {
      const { store, empty } = await open(t);
      const service = await startService(t, { store, keepAlive: true });
      const createPet = readOperations(CONTRACT).find(({ id }) => id === 'createPet') as Operation;
      const property = toProperty({
        name: `pets in ${kind} are read in the text that their create returned`,
        cases: withKey(requests(createPet)),
        toText: toCurl,
        holds: async ({ body }) => {
          await empty();
          // This create's reply is serialized from an object. The other replies are text from the store.
          const { text, headers } = await service.request('/v1/pets', { method: 'POST', body });
          const { text: one } = await service.request(headers.location as string);
          const { text: list } = await service.request('/v1/pets');
          if (one !== text || list !== `[${text}]`) throw new Error(`${text} is read as ${one} and listed as ${list}`);
        },
      });
      await runProperties(t, [property], 1 / 4);
    },
  );
}
