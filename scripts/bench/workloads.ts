/** The workloads: series of requests with their correct replies, the same for every server. */

export const PREFIX = '/v1';
export const API_KEY = 'key-of-the-benchmark-0123456789';
export const CONNECTIONS = 64;
/** The number of pets in each new database. */
export const ROWS = 10_000;
/** The number of requests in a workload, which are sent one after the other, and then again from the first. */
const LENGTH = 20_000;

/**
 * A request, and the expected body of its reply. If the request creates a pet, this body lacks the id, because the id
 * is not known before.
 */
export interface Exchange {
  request: string;
  reply: string;
}

/** Requests that share some connections. A connection sends the next request when the previous reply has arrived. */
export interface Stream {
  connections: number;
  exchanges: Exchange[];
}

export interface Workload {
  name: string;
  title: string;
  toStreams(): Stream[];
}

/**
 * The status of a pet by its id modulo 4: a quarter of the pets lacks a status, and every status applies to another
 * quarter.
 */
const STATUSES = [undefined, 'available', 'pending', 'sold'];

/**
 * The SQL expressions for the columns of the pet with this id. Every new database contains the pets 1, 2, 3 and so on.
 */
export const PET_SQL = `
  id, 'Pet ' || id, id % 100 + 1, CASE id % 4 WHEN 1 THEN 'available' WHEN 2 THEN 'pending' WHEN 3 THEN 'sold' END`;

const toPetText = (id: number) =>
  JSON.stringify({ id, name: `Pet ${id}`, categoryId: (id % 100) + 1, status: STATUSES[id % STATUSES.length] });

function toRequest(method: string, path: string, body = ''): string {
  const content = body && `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return `${method} ${PREFIX}${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${API_KEY}\r\n${content}\r\n${body}`;
}

/**
 * Builds a generator of numbers from 0 to less than 1. The numbers are the same in every run (a linear congruential
 * generator; Numerical Recipes, chapter 7).
 */
function buildRandom(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

type Next = () => Exchange;

function getOne(): Next {
  const random = buildRandom();
  return () => {
    const id = 1 + Math.floor(random() * ROWS);
    return { request: toRequest('GET', `/pets/${id}`), reply: toPetText(id) };
  };
}

function list(limit: number, status?: string): Next {
  const query = `limit=${limit}${status ? `&status=${status}` : ''}`;
  const ids = Array.from({ length: limit }, (_, index) =>
    status ? index * STATUSES.length + STATUSES.indexOf(status) : index + 1,
  );
  const exchange = { request: toRequest('GET', `/pets?${query}`), reply: `[${ids.map(toPetText)}]` };
  return () => exchange;
}

function create(): Next {
  let count = 0;
  return () => {
    const reply = `{"name":"New ${++count}","categoryId":7,"status":"available"}`;
    return { request: toRequest('POST', '/pets', reply), reply };
  };
}

/**
 * Mixes requests at random. `creates` is the share of requests that create a pet, from 0 to 1. Of the other requests,
 * half get one pet, and half list 20 pets.
 */
function mix(creates: number): Next {
  const random = buildRandom();
  const [nextCreate, nextGet, nextList] = [create(), getOne(), list(20)];
  return () => {
    const share = random();
    if (share < creates) return nextCreate();
    return share < creates + (1 - creates) / 2 ? nextGet() : nextList();
  };
}

function toStream(next: Next, connections = CONNECTIONS, length = LENGTH): Stream {
  return { connections, exchanges: Array.from({ length }, next) };
}

const toList = (name: string, title: string, limit: number, status?: string): Workload => ({
  name,
  title,
  toStreams: () => [toStream(list(limit, status), CONNECTIONS, 1)],
});

/** The workloads. The last two are for the latency of reads: without other requests, and during creates. */
export const WORKLOADS: Workload[] = [
  { name: 'get-one', title: 'get one', toStreams: () => [toStream(getOne())] },
  toList('list-20', 'list 20', 20),
  toList('list-20-by-status', 'list 20 by status', 20, 'available'),
  toList('list-100', 'list 100', 100),
  { name: 'create', title: 'create', toStreams: () => [toStream(create())] },
  { name: 'mix', title: '90/10 mix', toStreams: () => [toStream(mix(0.1))] },
  { name: 'reads', title: 'reads alone', toStreams: () => [toStream(mix(0), 48)] },
  {
    name: 'reads-beside-creates',
    title: 'reads beside creates',
    toStreams: () => [toStream(mix(0), 48), toStream(create(), 16)],
  },
];
