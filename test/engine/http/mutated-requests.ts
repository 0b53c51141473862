/** Makes damaged requests, alone and pipelined: always the same ones for a seed. */
import { METHODS } from 'node:http';
import { KEY } from '../../service.ts';

/** Returns an integer from 0 to below the limit. */
export type Pick = (limit: number) => number;

/** Mulberry32. */
export function buildPick(seed: number): Pick {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) % limit;
  };
}

const PET = '{"name":"Rex","categoryId":9223372036854775807}';
const HEADERS = `Host: pets\r\nAuthorization: Bearer ${KEY}\r\n`;
const JSON_TYPE = 'Content-Type: application/json\r\n';

export const WELL_FORMED = [
  `GET /v1/pets?limit=2 HTTP/1.1\r\n${HEADERS}\r\n`,
  `GET /v1/pets/1 HTTP/1.1\r\n${HEADERS}\r\n`,
  `HEAD /v1/pets HTTP/1.1\r\n${HEADERS}\r\n`,
  `POST /v1/pets HTTP/1.1\r\n${HEADERS}${JSON_TYPE}Content-Length: ${PET.length}\r\n\r\n${PET}`,
  `POST /v1/pets HTTP/1.1\r\n${HEADERS}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n10\r\n${PET.slice(0, 16)}\r\n1f\r\n${PET.slice(16)}\r\n0\r\n\r\n`,
  'GET /docs/static/index.css HTTP/1.1\r\nHost: pets\r\n\r\n',
  'GET /docs HTTP/1.1\r\nHost: pets\r\n\r\n',
  'GET /livez HTTP/1.0\r\n\r\n',
  'GET /openapi.json HTTP/1.1\r\nHost: pets\r\nIf-None-Match: *\r\n\r\n',
];

const BYTES = ['\0', '\r', '\n', '\r\n', ' ', '\t', ':', ';', '%', '\x80', '\xff', '\x7f', '"', '/', '0', 'f', '-'];
const VERSIONS = ['HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'HTTP/1.2', 'HTTP/11', 'HTTPS/1.1', 'ICE/1.0', ''];
const PATHS = [
  '*',
  '/',
  '//',
  '/nope',
  '/%',
  '/v1/pets/%00',
  '/v1/pets/%zz',
  '/v1/pets?limit=%ff',
  '/v1/pets?limit[]=1&__proto__=1',
  '/v1/../v1/pets',
  '/docs/static/../../x',
  '/docs/static/%2e%2e/%2e%2e/x',
  '/docs/static/%5c..%5cx',
  '/docs/static/x%00',
  `/docs/static/${'x'.repeat(4000)}`,
  '/docs/json?x',
  'http://elsewhere/v1/pets',
  'elsewhere:443',
  `/v1/pets/${'1'.repeat(9000)}`,
  `/v1/pets?after=${'A'.repeat(20_000)}`,
  '/v1/pets#x',
  '/constructor',
  '/v1/pets/__proto__',
];
export const HEADER_LINES = [
  'Content-Length: 5',
  'Content-Length: 0',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999',
  'Content-Length: 4, 5',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding: gzip',
  'Transfer-Encoding: identity',
  'Content-Encoding: gzip',
  'Content-Type: text/plain',
  'Content-Type: ;;;',
  'Content-Type: application/json; charset=latin1',
  'Expect: x',
  'Expect: 100-continue',
  'Connection: close',
  'Connection: upgrade\r\nUpgrade: websocket',
  'Connection: keep-alive, x',
  'Upgrade: h2c',
  'Host: another',
  'Host:',
  'Range: bytes=9-1',
  'If-Match: "x"',
  'If-Unmodified-Since: never',
  'Accept-Version: 1.x',
  'Authorization: Bearer wrong',
  'Authorization: Basic eDp5',
  'X-HTTP-Method-Override: DELETE',
  ' folded: x',
  'No colon',
  ': no name',
  'X-Null: \0',
  'X-Latin: \xe9\xff',
  `X-Long: ${'x'.repeat(17_000)}`,
  'X-Flood: x\r\n'.repeat(1500).trimEnd(),
  '__proto__: x',
];
const CHUNK_SIZES = ['', '0', '-1', 'zz', '0x10', 'fffffffffffffffff', '10;x', `10;${'x'.repeat(17_000)}`, '1 0'];

/** Functions that damage a text at one position. */
const DAMAGES: ((text: string, pick: Pick) => string)[] = [
  (text, pick) => splice(text, pick(text.length), 1, one(BYTES, pick)),
  (text, pick) => splice(text, pick(text.length), 0, one(BYTES, pick)),
  (text, pick) => splice(text, pick(text.length), 1, String.fromCharCode(pick(256))),
  (text, pick) => splice(text, pick(text.length), pick(20), ''),
  (text, pick) => text.slice(0, pick(text.length)),
  (text, pick) => text + text.slice(pick(text.length)),
  (text, pick) => text.replace(/^\S+/, pick(4) ? one(METHODS, pick) : one(['BREW', 'get', 'G\0T', ''], pick)),
  (text, pick) => text.replace(/ \S+/, ` ${one(PATHS, pick)}`),
  (text, pick) => text.replace(/HTTP\/1\.\d/, one(VERSIONS, pick)),
  (text, pick) => text.replace('\r\n', `\r\n${one(HEADER_LINES, pick)}\r\n`),
  (text, pick) => text.replace('\r\n', `\r\n${one(HEADER_LINES, pick)}\r\n`),
  (text, pick) => text.replace(/\r\n[0-9a-f]+\r\n/, `\r\n${one(CHUNK_SIZES, pick)}\r\n`),
  (text) => text.replace(/Host: .*\r\n/, ''),
  (text) => text.replaceAll('\r\n', '\n'),
];

function splice(text: string, at: number, length: number, insert: string): string {
  return text.slice(0, at) + insert + text.slice(at + length);
}

export function one<T>(items: readonly T[], pick: Pick): T {
  return items[pick(items.length)] as T;
}

/** Makes the packets for one connection at a time. Each character is one byte. */
export function* makeMutants(seed: number, count: number): Generator<string[]> {
  const pick = buildPick(seed);
  for (let made = 0; made < count; made++) {
    const requests = Array.from({ length: 1 + pick(4) }, () => one(WELL_FORMED, pick));
    const damaged = pick(requests.length);
    for (let times = 0; times <= pick(3); times++) {
      requests[damaged] = one(DAMAGES, pick)(requests[damaged] as string, pick);
    }
    const bytes = requests.join('');
    const cut = pick(3) ? bytes.length : pick(bytes.length + 1);
    yield [bytes.slice(0, cut), bytes.slice(cut)].filter(Boolean);
  }
}
