import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { Sqlite } from '../../src/contract-first/store/sqlite/sqlite.ts';
import { type Server, startServer } from '../program.ts';
import { KEY, type RequestOptions, send } from '../service.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 1);
/** The number of clients of each kind: those that retry with a key, and those that do not. */
const CLIENTS = 8;
const STATUSES = ['available', 'pending', 'sold', undefined];

/** For each acknowledged pet, its JSON in the reply, by id. */
type Acknowledged = Map<number, string>;

/** Returns the client's request number `count`, which creates a pet. */
function toRequest(client: string, count: number): RequestOptions & { body: string } {
  const status = STATUSES[count % STATUSES.length];
  const body = `{"name":"${client}, pet ${count} 🐕","categoryId":${2n ** 62n + BigInt(count)}${status ? `,"status":"${status}"` : ''}}`;
  return { method: 'POST', key: KEY, body };
}

/** @throws Error if the reply differs from the request, or its id was given before */
function note(text: string, body: string, acknowledged: Acknowledged): void {
  const id = Number(/^\{"id":(\d+)/.exec(text)?.[1]);
  if (acknowledged.has(id)) throw new Error(`the id ${id} was given out twice`);
  if (text !== body.replace('{', `{"id":${id},`)) throw new Error(`${body} was answered with ${text}`);
  acknowledged.set(id, text);
}

/** Adds one pet after the other until the server is gone, and records every complete reply. */
async function addPets({ port }: Server, client: string, acknowledged: Acknowledged): Promise<void> {
  for (let count = 0; ; count++) {
    const request = toRequest(client, count);
    const reply = await send(port, '/v1/pets', request).catch(() => undefined);
    if (!reply) return;
    if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`);
    note(reply.text, request.body, acknowledged);
  }
}

/** The state that the clients with keys share. */
interface Retrying {
  /** The current port of the server. */
  port: number;
  /** True if the clients shall stop adding pets. */
  isOver: boolean;
  /** The number of retries, and the number of replies that were replays. */
  again: number;
  replayed: number;
}

/** Adds one pet after the other, each with an Idempotency-Key. Repeats each request until some server answers it. */
async function addPetsOnce(state: Retrying, client: string, acknowledged: Acknowledged): Promise<void> {
  for (let count = 0; !state.isOver; count++) {
    const request = { ...toRequest(client, count), headers: { 'idempotency-key': `${client}-${count}` } };
    for (;;) {
      const reply = await send(state.port, '/v1/pets', request).catch(() => undefined);
      if (reply?.status === 201) {
        if (reply.headers['idempotency-replayed']) state.replayed++;
        note(reply.text, request.body, acknowledged);
        break;
      }
      if (reply && reply.status < 500) throw new Error(`${reply.status} ${reply.text}`);
      state.again++;
      await wait(20);
    }
  }
}

const toClients = (start: (client: number) => Promise<void>) =>
  Array.from({ length: CLIENTS }, (_, client) => start(client));

/** Kills the server with SIGKILL once this many further pets have been acknowledged. */
async function killAfter({ child, exit }: Server, acknowledged: Acknowledged, more: number): Promise<void> {
  const enough = acknowledged.size + more;
  while (acknowledged.size < enough && child.exitCode === null) await new Promise((resolve) => setImmediate(resolve));
  child.kill('SIGKILL');
  await exit;
}

/** Reads all pets through the service. Returns the JSON of each pet by id. */
async function readPets(server: Server): Promise<Map<number, string>> {
  const pets = new Map<number, string>();
  for (let next: string | undefined = '/v1/pets?limit=100'; next; ) {
    const { text, headers }: { text: string; headers: Record<string, string> } = await server.request(next);
    for (const [json] of text.matchAll(/\{[^}]*\}/g)) pets.set(Number(/"id":(\d+)/.exec(json)?.[1]), json);
    next = headers.link?.match(/<(.*)>/)?.[1];
  }
  return pets;
}

t.test(
  'if the server is killed at any time, every acknowledged pet is stored unchanged and only once',
  async (t: Test) => {
    const file = `${t.testdir()}/pets.db`;
    const acknowledged: Acknowledged = new Map();
    const state: Retrying = { port: 0, isOver: false, again: 0, replayed: 0 };
    let retrying: Promise<void>[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const server = await startServer(t, { env: { DATABASE_URL: `sqlite:${file}` } });
      state.port = server.port;
      if (round === 0) retrying = toClients((client) => addPetsOnce(state, `retrying-${client}`, acknowledged));
      const clients = toClients((client) => addPets(server, `round ${round}, client ${client}`, acknowledged));
      await killAfter(server, acknowledged, Math.floor(Math.random() * 400));
      // Nobody uses the old port any more, because another program may listen on it now.
      state.port = 0;
      await Promise.all(clients);
    }

    const server = await startServer(t, { env: { DATABASE_URL: `sqlite:${file}` } });
    state.port = server.port;
    state.isOver = true;
    await Promise.all(retrying);
    const pets = await readPets(server);
    const lost = [...acknowledged].filter(([id, json]) => pets.get(id) !== json);
    t.strictSame(lost, []);
    const names = [...pets.values()].map((json) => JSON.parse(json).name);
    t.equal(new Set(names).size, names.length);
    const ofKeys = (all: Iterable<string>) => [...all].filter((json) => json.includes('"name":"retrying-')).length;
    const keys = ofKeys(acknowledged.values());
    t.equal(ofKeys(pets.values()), keys);
    t.comment(`${ROUNDS} kills, ${acknowledged.size} pets acknowledged, ${pets.size - acknowledged.size} more written`);
    t.comment(`${keys} keys, sent again ${state.again} times, ${state.replayed} replayed`);
    t.ok(acknowledged.size > 0);
    server.child.kill('SIGTERM');
    t.equal(await server.exit, 0);
    const db = new Sqlite(file);
    t.equal(db.pragma('integrity_check', { simple: true }), 'ok');
    db.close();
  },
);
