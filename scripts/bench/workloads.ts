/** What is asked of the servers: each workload is an endless row of requests, the same for every server. */
import { toListText, toText } from './pets.ts';

export const PREFIX = '/v1';
export const API_KEY = 'key-of-the-benchmark-0123456789';

/** One request, as it goes over the wire, and what its reply must be. */
export interface Exchange {
  kind: 'read' | 'write';
  request: string;
  status: number;
  /** How the body begins and ends; where the whole body is known, it is the beginning. */
  begins: string;
  ends: string;
}

export interface Workload {
  name: string;
  title: string;
  /** The requests to a database that began with so many pets. */
  exchanges(rows: number): () => Exchange;
}

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

function getOne(rows: number): () => Exchange {
  const random = buildRandom();
  return () => {
    const id = 1 + Math.floor(random() * rows);
    return { kind: 'read', request: toRequest('GET', `/pets/${id}`), status: 200, begins: toText(id), ends: '' };
  };
}

function list(query: string, limit: number, status?: string): () => Exchange {
  const request = toRequest('GET', `/pets${query}`);
  const exchange: Exchange = { kind: 'read', request, status: 200, begins: toListText(limit, status), ends: '' };
  return () => exchange;
}

function create(): () => Exchange {
  let count = 0;
  return () => {
    const fields = `"name":"New ${++count}","categoryId":7,"status":"available"}`;
    return {
      kind: 'write',
      request: toRequest('POST', '/pets', `{${fields}`),
      status: 201,
      begins: '{"id":',
      ends: `,${fields}`,
    };
  };
}

/** Half get one, half list 20, and so large a share of creates. */
function mix(rows: number, creates: number): () => Exchange {
  const random = buildRandom();
  const [nextCreate, nextGet, nextList] = [create(), getOne(rows), list('?limit=20', 20)];
  return () => {
    const share = random();
    if (share < creates) return nextCreate();
    return share < creates + (1 - creates) / 2 ? nextGet() : nextList();
  };
}

export const WORKLOADS: Workload[] = [
  { name: 'get-one', title: 'get one', exchanges: getOne },
  { name: 'list-20', title: 'list 20', exchanges: () => list('?limit=20', 20) },
  {
    name: 'list-20-by-status',
    title: 'list 20 by status',
    exchanges: () => list('?limit=20&status=available', 20, 'available'),
  },
  { name: 'list-100', title: 'list 100', exchanges: () => list('?limit=100', 100) },
  { name: 'create', title: 'create', exchanges: create },
  { name: 'mix', title: '90/10 mix', exchanges: (rows) => mix(rows, 0.1) },
  { name: 'mix-reads', title: "the mix's reads alone", exchanges: (rows) => mix(rows, 0) },
];
