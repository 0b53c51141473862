/**
 * Four servers of the service in the guide's records.md share one PostgreSQL. The test kills them one after the other,
 * and stops and starts PostgreSQL, while clients create, finish and list records.
 */
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Json } from '../any-json.ts';
import { addFigures } from '../faults/figures.ts';
import { type PostgresServer, schemaOf, startPostgres } from '../postgres.ts';
import { type Server, startServer } from '../program.ts';
import { prepareTasks } from '../records-page.ts';
import { type RequestOptions, send } from '../service.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 2);
const CLIENTS = 12;
/** The number of records that are created between two faults. */
const BETWEEN = 60;
/** The number of projects with tasks. */
const PARENTS = 3;
const MOST_SHOWN = 20;
const NO_PROJECT = 2 ** 40;

/** The state that all clients share. */
interface Shop {
  servers: Server[];
  isOver: boolean;
  /** The names of acknowledged projects, by id. */
  projects: Map<number, string>;
  /** The acknowledged tasks, by id. */
  tasks: Map<string, Json>;
  /** The ids of finished tasks. */
  finished: Set<string>;
  /** The number of replies of each kind. */
  counts: Record<'refused' | 'unavailable' | 'replayed' | 'walks' | 'pages', number>;
  faults: string[];
}

/**
 * Sends a request to the server of this turn. Returns undefined for a 503 and for a server that is down. Other 5xx
 * replies are recorded as faults.
 */
async function ask(shop: Shop, turn: number, path: string, options: RequestOptions = {}) {
  const { port } = shop.servers[turn % shop.servers.length] as Server;
  const reply = await send(port, `/v1${path}`, { key: 'blue', ...options }).catch(() => undefined);
  if (reply === undefined || reply.status === 503) {
    shop.counts.unavailable++;
    await wait(20);
    return undefined;
  }
  if (reply.status >= 500) shop.faults.push(`${path}: ${reply.status} ${reply.text}`);
  return { status: reply.status, headers: reply.headers, body: JSON.parse(reply.text) as Json };
}

/** Sends the request to one server after the other until one answers. */
async function askUntilAnswered(shop: Shop, turn: number, path: string, options: RequestOptions = {}) {
  for (let next = turn; ; next++) {
    const reply = await ask(shop, next, path, options);
    if (reply) return reply;
  }
}

const post = (body?: object, headers = {}): RequestOptions => ({ method: 'POST', ...(body && { body }), headers });

/** Creates a project. Several clients use the same names, and only one create of each name may succeed. */
async function createProject(shop: Shop, turn: number, name: string): Promise<void> {
  const reply = await ask(shop, turn, '/projects', post({ name }));
  if (reply?.status === 201) {
    if (Object.keys(reply.body).join() !== 'id,name') shop.faults.push(`a client sees ${JSON.stringify(reply.body)}`);
    if ([...shop.projects.values()].includes(name)) shop.faults.push(`${name} was created twice`);
    shop.projects.set(reply.body.id, name);
  } else if (reply?.body.code === 'name_taken') shop.counts.refused++;
  else if (reply) shop.faults.push(`${name}: ${JSON.stringify(reply)}`);
}

async function createTask(shop: Shop, turn: number, title: string): Promise<void> {
  const [priority, day] = [turn % 3, turn % 4];
  const body = { title, priority, ...(day > 0 && { dueAt: `2030-01-0${day}T00:00:00Z` }) };
  const reply = await ask(shop, turn, `/projects/${1 + (turn % PARENTS)}/tasks`, post(body));
  if (reply?.status !== 201) return;
  const { id } = reply.body;
  if (shop.tasks.has(id)) shop.faults.push(`the id ${id} was given twice`);
  shop.tasks.set(id, reply.body);
  if (turn % 2) return;
  // The key lets a request that is repeated after a lost reply take effect only once.
  const done = await askUntilAnswered(shop, turn, `/tasks/${id}/finish`, post(undefined, { 'idempotency-key': title }));
  if (done.status !== 200) shop.faults.push(`finish: ${JSON.stringify(done)}`);
  if (done.headers['idempotency-replayed']) shop.counts.replayed++;
  shop.finished.add(id);
  const again = await askUntilAnswered(shop, turn + 1, `/tasks/${id}/finish`, post());
  if (again.body.code !== 'task_is_done') shop.faults.push(`finished again: ${JSON.stringify(again)}`);
  const lost = await askUntilAnswered(shop, turn, `/projects/${NO_PROJECT}/tasks`, post(body));
  if (lost.body.code !== 'project_not_found') shop.faults.push(`no project: ${JSON.stringify(lost)}`);
}

/** Checks that the records of a numbered page match its total, because both must come from the same moment. */
async function checkNumberedPage(shop: Shop, turn: number): Promise<void> {
  const known = shop.projects.size;
  const page = 1 + (turn % (2 + Math.floor(known / MOST_SHOWN)));
  const { body } = await askUntilAnswered(shop, turn, `/projects?page=${page}`);
  const { projects, total } = body;
  const expected = Math.min(MOST_SHOWN, Math.max(0, total - (page - 1) * MOST_SHOWN));
  if (projects.length !== expected) shop.faults.push(`page ${page} of ${total} has ${projects.length}`);
  if (total < known) shop.faults.push(`${total} in all, after ${known} were acknowledged`);
  shop.counts.pages++;
}

/**
 * Returns a key to sort tasks like the list: by descending priority, then by time, with tasks without a time at the
 * end.
 */
const toPlace = ({ priority, dueAt = '9' }: Json) => `${9 - priority} ${dueAt}`;

/** Reads a list from its first to its last page, each from another server. */
async function walk(shop: Shop, turn: number): Promise<void> {
  const projectId = 1 + (turn % PARENTS);
  const known = [...shop.tasks.values()].filter((task) => task.projectId === projectId);
  const found: Json[] = [];
  let next: string | undefined = `/projects/${projectId}/tasks?limit=${5 + (turn % 90)}`;
  for (let page = turn; next !== undefined; page++) {
    const reply: { body: Json; headers: Record<string, string> } = await askUntilAnswered(shop, page, next);
    found.push(...reply.body);
    next = /<\/v1([^>]*)>; rel="next"/.exec(reply.headers.link ?? '')?.[1];
  }
  const ids = new Set(found.map(({ id }) => id));
  if (ids.size !== found.length) shop.faults.push('a list shows a task twice');
  const lost = known.filter(({ id }) => !ids.has(id));
  if (lost.length > 0) shop.faults.push(`a list lacks ${JSON.stringify(lost[0])}`);
  const places = found.map(toPlace);
  if (places.join() !== places.toSorted().join()) shop.faults.push('a list is not in its order');
  shop.counts.walks++;
}

async function play(shop: Shop, client: number): Promise<void> {
  for (let count = 0; !shop.isOver; count++) {
    const turn = client + count;
    await createProject(shop, turn, `shared ${turn}`);
    await createTask(shop, turn, `client ${client}, task ${count}`);
    await checkNumberedPage(shop, turn);
    if (turn % 5 === 0) await walk(shop, turn);
  }
}

const createdIn = ({ projects, tasks }: Shop) => projects.size + tasks.size;

async function untilCreated(shop: Shop, more: number): Promise<void> {
  const enough = createdIn(shop) + more;
  while (createdIn(shop) < enough && shop.faults.length === 0) await wait(10);
}

async function untilUnavailable(shop: Shop, more: number): Promise<void> {
  const enough = shop.counts.unavailable + more;
  while (shop.counts.unavailable < enough && shop.faults.length === 0) await wait(10);
}

async function disturb(shop: Shop, postgres: PostgresServer, start: () => Promise<Server>): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    for (const place of shop.servers.keys()) {
      await untilCreated(shop, BETWEEN);
      const { child, exit } = shop.servers[place] as Server;
      child.kill('SIGKILL');
      await exit;
      shop.servers[place] = await start();
    }
    await untilCreated(shop, BETWEEN);
    await postgres.stop();
    await untilUnavailable(shop, CLIENTS);
    await postgres.start();
  }
  await untilCreated(shop, BETWEEN);
}

/** Compares the tables of the database with the acknowledged records. */
async function checkTables(t: Test, shop: Shop, postgres: PostgresServer, url: string): Promise<void> {
  const rows = async (sql: string) => {
    const { rows } = await postgres.execute(sql.replaceAll('@', `${schemaOf(url)}.`));
    return rows as Json[];
  };
  const projects = await rows('SELECT id, name, finished FROM @projects ORDER BY finished DESC, name, id');
  t.equal(new Set(projects.map(({ name }) => name)).size, projects.length, 'each project is stored once');
  t.strictSame(
    [...shop.projects].filter(([id, name]) => !projects.some((one) => Number(one.id) === id && one.name === name)),
    [],
    'each acknowledged project is stored',
  );
  const tasks = await rows('SELECT id, title, status FROM @tasks');
  const statuses = new Map(tasks.map(({ id, status }) => [id, status]));
  t.equal(new Set(tasks.map(({ title }) => title)).size, tasks.length, 'each task is stored once');
  t.strictSame(
    [...shop.tasks.keys()].filter((id) => statuses.get(id) !== (shop.finished.has(id) ? 'done' : 'open')),
    [],
    'each acknowledged task is stored, and is finished if that was acknowledged',
  );
  const sum = projects.reduce((all, { finished }) => all + Number(finished), 0);
  t.equal(sum, shop.finished.size, 'each finished task is counted once in the internal column');
  const listed: Json[] = [];
  for (let page = 1; page <= Math.ceil(projects.length / MOST_SHOWN); page++)
    listed.push(...(await askUntilAnswered(shop, page, `/projects?page=${page}`)).body.projects);
  t.strictSame(
    listed.map(({ id }) => String(id)),
    projects.map(({ id }) => id),
    'the list is in the order of the internal column',
  );
}

t.test(
  'while four servers are killed and PostgreSQL is stopped, no change is lost, and none is made twice',
  async (t) => {
    const root = prepareTasks(t);
    const postgres = await startPostgres(t);
    const url = postgres.newUrl();
    const env = { DATABASE_URL: url, API_KEYS: '', CREATE_TIMEOUT: '2000' };
    const start = () => startServer(t, { root, env });
    const servers = [await start(), ...(await Promise.all([start(), start(), start()]))];
    const counts = { refused: 0, unavailable: 0, replayed: 0, walks: 0, pages: 0 };
    const shop: Shop = {
      ...{ servers, isOver: false, projects: new Map(), tasks: new Map(), finished: new Set() },
      ...{ counts, faults: [] },
    };
    for (let count = 0; count < PARENTS; count++) await createProject(shop, count, `project ${count}`);
    const clients = Array.from({ length: CLIENTS }, (_, client) =>
      play(shop, client).catch((error) => shop.faults.push(String(error))),
    );
    await disturb(shop, postgres, start);
    shop.isOver = true;
    await Promise.all(clients);
    t.strictSame(shop.faults, []);
    for (const kind of ['refused', 'unavailable', 'walks', 'pages'] as const) t.ok(counts[kind] > 0, kind);
    await checkTables(t, shop, postgres, url);
    addFigures(
      'four servers',
      `${4 * ROUNDS} kills, ${ROUNDS} outages: 0 of ${shop.projects.size} projects and ${shop.tasks.size} tasks lost; ${JSON.stringify(counts)}`,
    );
  },
);
