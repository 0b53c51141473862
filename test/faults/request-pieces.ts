/** Sessions of random pieces of requests, one behind the other, cut anywhere: always the same for the same seed. */
import { buildPick, HEADER_LINES, one, type Pick, WELL_FORMED } from '../engine/http/mutated-requests.ts';
import { KEY } from '../service.ts';

const METHODS = ['GET', 'GET', 'POST', 'HEAD', 'OPTIONS', 'CONNECT', 'PUT'];
const URLS = ['/livez', '/v1/pets', '/v1/pets/1', '/nowhere', '/v1/pets?limit=1', '*', '/docs/static/index.css'];
const VERSIONS = ['1.1', '1.1', '1.1', '1.0', '2.0'];
const CONNECTIONS = ['keep-alive', 'close', 'upgrade\r\nUpgrade: websocket', 'Upgrade, HTTP2-Settings\r\nUpgrade: h2c'];
const CODINGS = ['chunked', 'gzip, chunked', 'identity', 'chunked, chunked'];
const BODIES = [
  '',
  '{"name":"a","categoryId":1}',
  'x'.repeat(70_000),
  '{bad',
  '0\r\n\r\n',
  '1b\r\n{"name":"a","categoryId":1}\r\n0\r\n\r\n',
];

/** Ends the connection, unless what came before is incomplete: then time ends it. */
const LAST = 'GET /livez HTTP/1.1\r\nHost: pets\r\nConnection: close\r\n\r\n';

function makePiece(pick: Pick): string {
  if (pick(4) === 0) return one(WELL_FORMED, pick);
  const body = one(BODIES, pick);
  const lines = [`${one(METHODS, pick)} ${one(URLS, pick)} HTTP/${one(VERSIONS, pick)}`];
  if (pick(8)) lines.push('Host: pets');
  if (pick(2)) lines.push(`Connection: ${one(CONNECTIONS, pick)}`);
  if (pick(3) === 0) lines.push(`Transfer-Encoding: ${one(CODINGS, pick)}`);
  else if (pick(3)) lines.push(`Content-Length: ${pick(5) ? body.length : pick(100)}`);
  if (pick(6) === 0) lines.push('Expect: 100-continue');
  if (pick(2)) lines.push('Content-Type: application/json');
  if (pick(3) === 0) lines.push('X-Forwarded-For: 192.0.2.1', 'Origin: https://a.example');
  if (pick(4) === 0) lines.push(one(HEADER_LINES, pick));
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

export interface Session {
  /** What is written, packet by packet, one character for one byte. */
  packets: string[];
  /** How long to wait behind each packet, in milliseconds. */
  pauses: number[];
  /** How the client ends it; undefined: it waits for the server. */
  end: 'reset' | 'half' | undefined;
}

export function* makeSessions(seed: number, count: number, key: string): Generator<Session> {
  const pick = buildPick(seed);
  for (let made = 0; made < count; made++) {
    const bytes = Array.from({ length: 1 + pick(5) }, () => makePiece(pick))
      .join('')
      .replaceAll(KEY, key);
    const cuts = Array.from({ length: pick(4) }, () => pick(bytes.length + 1)).sort((a, b) => a - b);
    const packets = [0, ...cuts].map((from, index) =>
      bytes.slice(from, cuts[index] ?? (pick(5) ? bytes.length : pick(bytes.length))),
    );
    const end = one(['reset', 'reset', 'reset', 'half', undefined] as const, pick);
    if (end === undefined) packets.push(LAST);
    yield { packets, pauses: packets.map(() => pick(4)), end };
  }
}
