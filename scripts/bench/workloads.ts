/** The workloads: each is a series of requests, the same for every server. */
import { toListText, toPetText } from './pets.ts';

export const PREFIX = '/v1';
export const API_KEY = 'key-of-the-benchmark-0123456789';
export const CONNECTIONS = 64;
/** So many different requests are sent in turn, over and over. */
const LENGTH = 20_000;

/** One request, as it goes over the wire, and the body of its reply; of a new pet without its id. */
export interface Exchange {
  request: string;
  reply: string;
}

/** Requests that share some connections, with one at a time on each. */
export interface Stream {
  connections: number;
  exchanges: Exchange[];
}

export interface Workload {
  name: string;
  title: string;
  /** To a database that began with so many pets. */
  toStreams(rows: number): Stream[];
}

type Next = () => Exchange;

function toRequest(method: string, path: string, body = ''): string {
  const content = body && `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  return `${method} ${PREFIX}${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${API_KEY}\r\n${content}\r\n${body}`;
}

/** Numbers from 0 up to 1, the same in every run (a linear congruential generator; Numerical Recipes, chapter 7). */
function buildRandom(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function getOne(rows: number): Next {
  const random = buildRandom();
  return () => {
    const id = 1 + Math.floor(random() * rows);
    return { request: toRequest('GET', `/pets/${id}`), reply: toPetText(id) };
  };
}

function list(limit: number, status?: string): Next {
  const query = `limit=${limit}${status ? `&status=${status}` : ''}`;
  const exchange = { request: toRequest('GET', `/pets?${query}`), reply: toListText(limit, status) };
  return () => exchange;
}

function create(): Next {
  let count = 0;
  return () => {
    const reply = `{"name":"New ${++count}","categoryId":7,"status":"available"}`;
    return { request: toRequest('POST', '/pets', reply), reply };
  };
}

/** Half of the reads get one pet, half list 20; `share` of all requests are creates. */
function mix(rows: number, creates: number): Next {
  const random = buildRandom();
  const [nextCreate, nextGet, nextList] = [create(), getOne(rows), list(20)];
  return () => {
    const share = random();
    if (share < creates) return nextCreate();
    return share < creates + (1 - creates) / 2 ? nextGet() : nextList();
  };
}

function toStream(next: Next, connections = CONNECTIONS, length = LENGTH): Stream {
  return { connections, exchanges: Array.from({ length }, next) };
}

/** How many connections read where the latency of reads is measured; so many create at the same time. */
const READING = 48;
const CREATING = 16;

/** There for the latency of reads, not for their number. */
export const isOfReads = (name: string): boolean => name.startsWith('reads');

export const WORKLOADS: Workload[] = [
  { name: 'get-one', title: 'get one', toStreams: (rows) => [toStream(getOne(rows))] },
  { name: 'list-20', title: 'list 20', toStreams: () => [toStream(list(20), CONNECTIONS, 1)] },
  {
    name: 'list-20-by-status',
    title: 'list 20 by status',
    toStreams: () => [toStream(list(20, 'available'), CONNECTIONS, 1)],
  },
  { name: 'list-100', title: 'list 100', toStreams: () => [toStream(list(100), CONNECTIONS, 1)] },
  { name: 'create', title: 'create', toStreams: () => [toStream(create())] },
  { name: 'mix', title: '90/10 mix', toStreams: (rows) => [toStream(mix(rows, 0.1))] },
  { name: 'reads', title: 'reads alone', toStreams: (rows) => [toStream(mix(rows, 0), READING)] },
  {
    name: 'reads-beside-creates',
    title: 'reads beside creates',
    toStreams: (rows) => [toStream(mix(rows, 0), READING), toStream(create(), CREATING)],
  },
];
