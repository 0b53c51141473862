/**
 * Another team's service in a copy of the project: its contract, its handlers and a folder. On both databases, the
 * tests check what it promises while its servers are killed and its database is down, the move of its data from one
 * database to the other, and how the team tests the service.
 */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parse } from 'lossless-json';
import t, { type Test } from 'tap';
import { copyProject, generate } from '../cli/project-copy.ts';
import type { CheckedReply } from '../contract-check.ts';
import { prepareFaultyDisk } from '../faulty-disk.ts';
import { FILES, YAML } from '../orders/service.ts';
import { startPostgres } from '../postgres.ts';
import { NODE_ARGS, type Server, startProgram, startServer } from '../program.ts';
import { type RequestOptions, send } from '../service.ts';

const CLIENTS = 64;
const KILLS = Number(process.env.ROUNDS ?? 3);
/** The number of pets in the drill. Three clients want each pet. */
const WANTED = 80;

/** How long the database is down, in milliseconds. */
const OUTAGE = 500;

interface Place {
  folder: string;
  url: string;
  servers: number;
  /** The environment variables of programs that use the disk. */
  env?: Record<string, string>;
  fail(): unknown;
  mend(): unknown;
}

/** The servers on one database. Each is started again after it is killed. */
class Fleet {
  readonly #t: Test;
  readonly #place: Place;
  readonly #servers: Server[] = [];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  #turn = 0;
  /** How many requests were answered with 503. */
  unavailable = 0;

  constructor(t: Test, place: Place) {
    this.#t = t;
    this.#place = place;
    t.teardown(() => this.#agent.destroy());
  }

  async start(): Promise<void> {
    for (let index = 0; index < this.#place.servers; index++) this.#servers[index] = await this.#startOne();
  }

  /** Sends a request to the servers in turn. */
  send(path: string, options: RequestOptions = {}): Promise<CheckedReply> {
    const { port } = this.#servers[this.#turn++ % this.#servers.length] as Server;
    return send(port, `/v1${path}`, options, this.#agent);
  }

  /** Sends a request again until it is answered with a status below 500. */
  async sendUntilDone(path: string, options?: RequestOptions): Promise<CheckedReply> {
    for (;;) {
      const reply = await this.send(path, options).catch(() => undefined);
      if (reply?.status === 503) this.unavailable++;
      if (reply && reply.status < 500) return reply;
      await wait(20);
    }
  }

  /** Makes the database fail until a client has noticed it, and for `OUTAGE` after that. */
  async endure(): Promise<void> {
    await this.#place.fail();
    // Sends a request of its own, because all others may have been answered before the failure.
    const pet = () => post('{"name":"Rex","categoryId":7}', randomUUID());
    while ((await this.send('/pets', pet()).catch(() => undefined))?.status !== 503) await wait(20);
    this.unavailable++;
    await wait(OUTAGE);
    await this.#place.mend();
  }

  async stop(): Promise<void> {
    for (const { child, exit } of this.#servers) {
      child.kill('SIGTERM');
      await exit;
    }
  }

  async kill(): Promise<void> {
    const index = Math.floor(Math.random() * this.#servers.length);
    const { child, exit } = this.#servers[index] as Server;
    child.kill('SIGKILL');
    await exit;
    this.#servers[index] = await this.#startOne();
  }

  #startOne(): Promise<Server> {
    const { folder, url, env: disk } = this.#place;
    const env = { ...disk, DATABASE_URL: url, CREATE_TIMEOUT: '10000' };
    return startServer(this.#t, { root: folder, env });
  }
}

/** Runs the work for all numbers, as many at the same time as there are clients. */
async function forAll(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const client = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

const post = (body: string, key: string): RequestOptions => ({
  method: 'POST',
  body,
  headers: { 'idempotency-key': key },
});
const read = (text: string) => parse(text, undefined, BigInt) as Record<string, bigint | string>;

/** Creates pets, each with an Idempotency-Key, and returns their ids. */
async function addPets(fleet: Fleet, count: number): Promise<bigint[]> {
  const ids: bigint[] = [];
  await forAll(count, async (index) => {
    const { status, text } = await fleet.sendUntilDone(
      '/pets',
      post('{"name":"Rex","categoryId":7,"status":"available"}', `${randomUUID()}`),
    );
    if (status !== 201) throw new Error(`${index}: ${status} ${text}`);
    ids.push(read(text).id as bigint);
  });
  return ids;
}

async function readAll(fleet: Fleet, path: string): Promise<string[]> {
  const found: string[] = [];
  for (let next: string | undefined = path; next; ) {
    const { status, text, headers }: CheckedReply = await fleet.sendUntilDone(next);
    if (status !== 200) throw new Error(`${next}: ${status} ${text}`);
    for (const [record] of text.matchAll(/\{[^}]*\}/g)) found.push(record);
    next = headers.link?.match(/<\/v1(.*)>/)?.[1];
  }
  return found;
}

/** The acknowledged orders: for each pet the order as text, and the request with its Idempotency-Key. */
type Placed = Map<bigint, { text: string; options: RequestOptions }>;

/** Three clients try to buy each pet, while servers are killed and the database is down. */
async function placeUnderKills(fleet: Fleet, ids: readonly bigint[]): Promise<{ placed: Placed; again: number }> {
  const placed: Placed = new Map();
  let [again, isOver] = [0, false];
  const killing = (async () => {
    await fleet.endure();
    for (let kill = 0; kill < KILLS && !isOver; kill++) {
      await wait(300);
      await fleet.kill();
    }
  })();
  await forAll(3 * ids.length, async (index) => {
    const petId = ids[Math.floor(index / 3)] as bigint;
    const options = post(`{"petId":${petId},"price":${index % 50}}`, randomUUID());
    const { status, text, headers } = await fleet.sendUntilDone('/orders', options);
    if (headers['idempotency-replayed']) again++;
    if (status !== 201 && status !== 409) throw new Error(`${status} ${text}`);
    if (status === 409) return;
    if (placed.has(petId)) throw new Error(`the pet ${petId} was sold twice`);
    placed.set(petId, { text, options });
  });
  isOver = true;
  await killing;
  return { placed, again };
}

async function checkDrill(t: Test, fleet: Fleet, ids: readonly bigint[]): Promise<void> {
  const { placed, again } = await placeUnderKills(fleet, ids);
  t.equal(placed.size, ids.length, 'each pet is sold once');
  const orders = new Map((await readAll(fleet, '/orders?limit=100')).map((text) => [read(text).petId as bigint, text]));
  t.strictSame(
    [...placed].filter(([id, { text }]) => orders.get(id) !== text),
    [],
    'each acknowledged order is stored unchanged',
  );
  const sold = (await readAll(fleet, '/pets?limit=100&status=sold')).map((text) => read(text).id as bigint);
  t.strictSame(sold.toSorted(), [...orders.keys()].toSorted(), 'exactly the pets with an order are sold');
  for (const { text, options } of [...placed.values()].slice(0, 20)) {
    const reply = await fleet.sendUntilDone('/orders', options);
    t.match(reply, { status: 201, text, headers: { 'idempotency-replayed': 'true' } });
  }
  const { unavailable } = fleet;
  t.ok(unavailable > 0, 'some requests were answered with 503');
  t.comment(
    `${KILLS} kills, ${placed.size} orders, ${again} of them answered when they were sent again; ${unavailable} were 503`,
  );
}

async function checkChanges(t: Test, fleet: Fleet): Promise<void> {
  const [order = ''] = await readAll(fleet, '/orders?limit=100&status=placed&maxPrice=6');
  const path = `/orders/${read(order).number}`;
  const { headers } = await fleet.sendUntilDone(path);
  const known = { headers: { 'if-none-match': String(headers.etag) } };
  t.match(await fleet.sendUntilDone(path, known), { status: 304 });
  const change = (body: string, more = {}) =>
    fleet.sendUntilDone(path, {
      method: 'PATCH',
      body,
      headers: { 'content-type': 'application/merge-patch+json', ...more },
    });
  t.match(await change('{"note":"Gift"}'), { status: 428 });
  const changes = Array.from({ length: 50 }, () =>
    change('{"status":"paid","note":"Gift"}', { 'if-match': String(headers.etag) }),
  );
  const statuses = (await Promise.all(changes)).map(({ status }) => status).toSorted();
  t.strictSame(statuses, [200, ...Array(49).fill(412)], 'of 50 changes of the same revision, one is made');
  const changed = await change('{"note":null}', { 'if-match': '*' });
  t.match(changed, { status: 200, headers: { etag: '"3"' }, text: /"status":"paid"/ });
  t.notMatch(changed.text, 'note');
  const totals = parse((await fleet.sendUntilDone('/order-totals')).text, undefined, Number);
  t.match(totals, [{ status: 'paid', count: 1 }, { status: 'placed' }]);
}

/** Reads all pages by price while orders are placed. */
async function checkPages(t: Test, fleet: Fleet, ids: readonly bigint[]): Promise<void> {
  const before = (await readAll(fleet, '/orders?limit=100')).map((text) => read(text).number);
  const placing = forAll(ids.length, async (index) => {
    await fleet.sendUntilDone('/orders', post(`{"petId":${ids[index]},"price":${index % 50}}`, randomUUID()));
  });
  const found = (await readAll(fleet, '/orders?limit=7&order=cheapest&minPrice=0&maxPrice=50')).map(read);
  await placing;
  const numbers = found.map(({ number }) => number);
  t.equal(new Set(numbers).size, numbers.length, 'no order is listed twice');
  t.strictSame(
    before.filter((number) => !numbers.includes(number)),
    [],
    'no order is missing from the list',
  );
  const prices = found.map(({ price }) => price as bigint);
  t.strictSame(
    prices,
    prices.toSorted((one, other) => Number(one - other)),
  );
}

async function drill(t: Test, place: Place): Promise<void> {
  const fleet = new Fleet(t, place);
  await fleet.start();
  await checkDrill(t, fleet, await addPets(fleet, WANTED));
  await checkChanges(t, fleet);
  await checkPages(t, fleet, await addPets(fleet, CLIENTS));
}

const TEST = `import t from 'tap';
import { openTestServer } from 'contract-first/test';
import { service } from '../../src/generated/service.ts';

t.test('an order sells its pet', async (t) => {
  const { client } = await openTestServer(t, service);
  const { body: pet } = await client.createPet({ body: { name: 'Rex', categoryId: 7n, status: 'available' } });
  t.match(await client.placeOrder({ body: { petId: pet.id, price: 5n } }), { status: 201, body: { price: 5n } });
  t.match(await client.placeOrder({ body: { petId: pet.id, price: 5n } }), { status: 409 });
});
`;

t.test('a service of pets and orders loses no record and repeats no change if its servers are killed', async (t) => {
  const folder = copyProject(t, YAML);
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const generated = generate(folder);
  t.equal(generated.status, 0);
  // The tables are small, so lists with an order and a filter may go without an index.
  t.match(generated.stderr, /^(warning: lists of orders filtered .* for lack of an index: .*\n)*$/);
  const compiled = spawnSync('npx', ['tsc', '--noEmit', '-p', '.'], { cwd: folder, encoding: 'utf8' });
  t.equal(compiled.stdout, '');
  const toUrl = (name: string) => `sqlite:${folder}/${name}.db`;
  await t.test('on SQLite, killed servers and a failing disk lose no record and repeat no change', (t) => {
    const { env, fail, mend } = prepareFaultyDisk(t);
    return drill(t, { folder, url: toUrl('first'), servers: 1, env, fail, mend });
  });
  const postgres = await startPostgres(t);
  const [fail, mend] = [() => postgres.stop(), () => postgres.start()];
  const urls = [1, 3].map((servers) => ({ servers, url: postgres.newUrl() }));
  for (const { servers, url } of urls) {
    await t.test(
      `on PostgreSQL, killed servers and a stopped database lose no record and repeat no change, servers: ${servers}`,
      (t) => drill(t, { folder, url, servers, fail, mend }),
    );
  }
  await t.test('`move` copies all records from SQLite to PostgreSQL and back, byte for byte', async (t) => {
    const [first, ...others] = [toUrl('first'), postgres.newUrl(), toUrl('moved')] as [string, ...string[]];
    const readFrom = async (url: string) => {
      const fleet = new Fleet(t, { folder, url, servers: 1, fail, mend });
      await fleet.start();
      const records = await Promise.all(['/orders', '/pets'].map((path) => readAll(fleet, `${path}?limit=100`)));
      await fleet.stop();
      return records.flat();
    };
    const records = await readFrom(first);
    t.ok(records.length > 2 * WANTED);
    for (const [index, url] of others.entries()) {
      const args = [[first, ...others][index] as string, url];
      const { exit, output } = startProgram(t, 'src/main.ts', { args: ['move', ...args], root: folder });
      t.equal(await exit, 0, output.stderr);
      t.match(output.stdout, /^Moved .*orders.*pets/);
      t.strictSame(await readFrom(url), records);
    }
  });
  await t.test('a test with openTestServer can run transactions, even before the first release', async (t) => {
    rmSync(join(folder, 'openapi/released'), { recursive: true });
    mkdirSync(join(folder, 'test/operations'), { recursive: true });
    writeFileSync(join(folder, 'test/operations/placeOrder.test.ts'), TEST);
    const env = { ...process.env, NODE_V8_COVERAGE: '', TAP_CHILD_ID: '' };
    const args = [...NODE_ARGS, 'test/operations/placeOrder.test.ts'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', env });
    t.equal(status, 0, { stdout, stderr });
  });
});
