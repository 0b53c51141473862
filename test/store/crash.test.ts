import t, { type Test } from 'tap';
import { Sqlite } from '../../src/store/sqlite/kept-sqlite.ts';
import { type Server, startServer } from '../program.ts';
import { KEY } from '../service.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 1);
const CLIENTS = 16;
const STATUSES = ['available', 'pending', 'sold', undefined];

/** The JSON of each pet in a reply of the server, by its id. */
type Acknowledged = Map<number, string>;

/** Adds pets, one after the other, until the server is gone, and notes every reply that came in full. */
async function addPets({ port }: Server, client: string, acknowledged: Acknowledged): Promise<void> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  for (let count = 0; ; count++) {
    const status = STATUSES[count % STATUSES.length];
    const body = `{"name":"${client}, pet ${count} 🐕","categoryId":${2n ** 62n + BigInt(count)}${status ? `,"status":"${status}"` : ''}}`;
    let text: string;
    try {
      const reply = await fetch(`http://127.0.0.1:${port}/v1/pets`, { method: 'POST', headers, body });
      text = await reply.text();
      if (reply.status !== 201) throw new Error(`${reply.status} ${text}`, { cause: 'refused' });
    } catch (error) {
      if ((error as Error).cause === 'refused') throw error;
      return;
    }
    const id = Number(/^\{"id":(\d+)/.exec(text)?.[1]);
    if (acknowledged.has(id)) throw new Error(`the id ${id} was given out twice`);
    if (text !== body.replace('{', `{"id":${id},`)) throw new Error(`${body} was answered with ${text}`);
    acknowledged.set(id, text);
  }
}

/** Kills the server with no warning, once so many more pets than before have been acknowledged. */
async function killAfter({ child, exit }: Server, acknowledged: Acknowledged, more: number): Promise<void> {
  const enough = acknowledged.size + more;
  while (acknowledged.size < enough && child.exitCode === null) await new Promise((resolve) => setImmediate(resolve));
  child.kill('SIGKILL');
  await exit;
}

/** What is in the file, as the service lists it: each pet's JSON by its id. */
async function readPets(server: Server): Promise<Map<number, string>> {
  const pets = new Map<number, string>();
  for (let next: string | undefined = '/v1/pets?limit=100'; next; ) {
    const { text, headers }: { text: string; headers: Record<string, string> } = await server.request(next);
    for (const [json] of text.matchAll(/\{[^}]*\}/g)) pets.set(Number(/"id":(\d+)/.exec(json)?.[1]), json);
    next = headers.link?.match(/<(.*)>/)?.[1];
  }
  return pets;
}

t.test('after a kill at any time, every pet that was acknowledged is there, unchanged', async (t: Test) => {
  const file = `${t.testdir()}/pets.db`;
  const acknowledged: Acknowledged = new Map();
  for (let round = 0; round < ROUNDS; round++) {
    const server = await startServer(t, { env: { DATABASE_URL: `sqlite:${file}` } });
    const clients = Array.from({ length: CLIENTS }, (_, index) =>
      addPets(server, `round ${round}, client ${index}`, acknowledged),
    );
    await killAfter(server, acknowledged, Math.floor(Math.random() * 400));
    await Promise.all(clients);
  }

  const server = await startServer(t, { env: { DATABASE_URL: `sqlite:${file}` } });
  const pets = await readPets(server);
  const lost = [...acknowledged].filter(([id, json]) => pets.get(id) !== json);
  t.strictSame(lost, []);
  t.comment(`${ROUNDS} kills, ${acknowledged.size} pets acknowledged, ${pets.size - acknowledged.size} more written`);
  t.ok(acknowledged.size > 0);
  server.child.kill('SIGTERM');
  t.equal(await server.exit, 0);
  const db = new Sqlite(file);
  t.equal(db.pragma('integrity_check', { simple: true }), 'ok');
  db.close();
});
