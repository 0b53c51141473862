/** The store on PostgreSQL: several machines may share it. What waits is asked, or written, in one round trip. */

import { toWritten } from '../columns.ts';
import { type Store, type StoreLimits, StoreUnavailable } from '../store.ts';
import { buildConnect } from './connection.ts';
import { type AskAll, gather } from './gathering.ts';
import { buildInsertPets } from './insert.ts';
import { buildKeys } from './keys.ts';
import { openLanes } from './lanes.ts';
import { loadMigrations, migrate } from './migrate.ts';
import { buildCountMisfits } from './misfits.ts';
import { quote } from './names.ts';
import { buildListPets } from './pages.ts';
import { buildGetPets } from './pets.ts';
import type { PostgresPlace } from './place.ts';

/** How many connections read, beside the one that writes. More do not help: each takes all that waits. */
const READERS = 3;
/** How long a call may take, in milliseconds: a client is answered within two seconds. */
const TIMEOUT = 1700;
/** How long before that PostgreSQL itself gives up a statement, in milliseconds: what became of it is known then. */
const EARLIER = 700;
/** How long a successful write proves that the database can be written, in milliseconds. */
const PROOF_AGE = 10_000;

const TOO_MANY = new Error('too many pets wait to be written');

/** @throws Error when no server lets us in, or the schema is newer than this program's */
export async function openPostgres(
  place: PostgresPlace,
  { createTimeout, maxCreates }: StoreLimits,
  timeout = TIMEOUT,
): Promise<Store> {
  const connect = buildConnect(place, timeout - EARLIER);
  const first = await connect();
  try {
    await migrate(first, place.schema, loadMigrations());
  } finally {
    first.end();
  }

  const schema = quote(place.schema);
  const reading = openLanes({ connect, count: READERS, timeout, isRepeatable: true });
  const writing = openLanes({ connect, count: 1, timeout: Math.min(timeout, createTimeout), isRepeatable: false });
  const getPet = gather(reading.run, buildGetPets(schema));
  const addPet = gather(writing.run, proving(buildInsertPets(schema)));
  const proveWritable = gather(reading.run, proving(buildProveWritable(schema)));
  const keys = buildKeys(schema);
  let creating = 0;
  let provenAt = Number.NEGATIVE_INFINITY;

  /** Notes what the write says of the database. */
  function proving<Question, Answer>(write: AskAll<Question, Answer>): AskAll<Question, Answer> {
    return async (connection, questions) => {
      provenAt = Number.NEGATIVE_INFINITY;
      const answers = await write(connection, questions);
      if (!answers.some((answer) => answer instanceof StoreUnavailable)) provenAt = performance.now();
      return answers;
    };
  }

  return {
    createPet: async (pet) => {
      if (creating >= maxCreates) throw new StoreUnavailable(TOO_MANY, 'overloaded');
      creating++;
      try {
        const id = await addPet(pet);
        if (typeof id !== 'bigint') throw id;
        return toWritten(id, pet);
      } finally {
        creating--;
      }
    },
    getPet,
    listPets: gather(reading.run, buildListPets(schema)),
    countMisfits: buildCountMisfits(schema, reading.run),
    createKey: (key) => writing.run((connection) => keys.insert(connection, key)),
    listKeys: () => reading.run(keys.list),
    listValidKeys: (now) => reading.run((connection) => keys.listValid(connection, now)),
    keysVersion: () => reading.run(keys.version),
    revokeKey: (id, revokedAt) => writing.run((connection) => keys.revoke(connection, id, revokedAt)),
    check: async () => {
      await getPet(0n);
      if (performance.now() - provenAt > PROOF_AGE) await proveWritable(undefined);
    },
    close: async () => {
      await Promise.all([reading.close(), writing.close()]);
    },
  };
}

/** Writes a row without changing it, which may be done twice. */
function buildProveWritable(schema: string): AskAll<undefined, unknown> {
  const sql = `UPDATE ${schema}.passed_check SET contract = contract`;
  return (connection) => connection.query(sql);
}
