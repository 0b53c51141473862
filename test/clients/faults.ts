/** What may happen to an answer on its way. */
import type { Socket } from 'node:net';
import type { Reply } from '../contract-check.ts';

/** What is sent to the client in place of the service's reply; nothing in place of `undefined`: it was sent already. */
export type Fault = (socket: Socket, reply: Reply) => void;

/** A reply as bytes. */
export function toBytes({ status, headers, text }: Reply): Buffer {
  const lines = Object.entries({ ...headers, 'content-length': Buffer.byteLength(text) });
  return Buffer.from(`HTTP/1.1 ${status} X\r\n${lines.map((line) => `${line.join(': ')}\r\n`).join('')}\r\n${text}`);
}

const sendInstead =
  (change: (reply: Reply) => Partial<Reply>): Fault =>
  (socket, reply) =>
    socket.write(toBytes({ ...reply, ...change(reply) }));

const withBody = (text: string, type = 'text/html') =>
  sendInstead(({ headers }) => ({ text, headers: { ...headers, 'content-type': type } }));

/** A failure with the service's body. */
export const refuse = (status: number, headers: Record<string, string> = {}): Fault =>
  sendInstead(() => ({
    status,
    headers: { 'content-type': 'application/json', 'x-request-id': 'r-1', ...headers },
    text: JSON.stringify({ code: `code_${status}`, message: 'No.', status }),
  }));

const plain = (status: number, text: string): Fault =>
  sendInstead(() => ({ status, text, headers: { 'content-type': 'text/html' } }));

const HTML = '<!DOCTYPE html><title>Welcome</title><p>Please log in.';

/** After these, the next attempt succeeds. */
export const PASSING: Record<string, Fault> = {
  'a connection that is cut before the answer': (socket) => socket.destroy(),
  'one that is reset before the answer': (socket) => socket.resetAndDestroy(),
  'one that is cut within the first line': (socket) => socket.end('HTTP/1.'),
  'one that is cut within the headers': (socket, reply) => socket.end(toBytes(reply).subarray(0, 40)),
  'one that is cut within the body': (socket, reply) => socket.end(toBytes(reply).subarray(0, -5)),
  'one that is cut behind the answer': (socket, reply) => socket.end(toBytes(reply)),
  'silence before the answer': () => {},
  'silence within the headers': (socket, reply) => socket.write(toBytes(reply).subarray(0, 40)),
  'silence within the body': (socket, reply) => socket.write(toBytes(reply).subarray(0, -5)),
  garbage: (socket) => socket.end('\x16\x03\x01\0garbage\r\n\r\n'),
  HTML: withBody(HTML),
  'an empty body': withBody(''),
  'JSON that ends too early': sendInstead(({ text }) => ({ text: text.slice(0, -5) })),
  'JSON of something else': withBody('"ok"', 'application/json'),
  ...Object.fromEntries([408, 429, 500, 502, 503, 504].map((status) => [String(status), refuse(status)])),
  '502 with HTML': plain(502, HTML),
  '504 without a body': plain(504, ''),
  'a Retry-After that is neither': refuse(503, { 'retry-after': 'soon' }),
  'a Retry-After with a sign': refuse(503, { 'retry-after': '-1' }),
  'a Retry-After of no such day': refuse(503, { 'retry-after': 'Fri, 99 Foo 99999 99:99:99 GMT' }),
  'a Retry-After that is over': refuse(503, { 'retry-after': 'Sun, 06 Nov 1994 08:49:37 GMT' }),
};

/** Within which the next attempt comes not. */
export const WAIT = 1000;

/** Two seconds from now, in the three forms of RFC 9110, section 5.6.7: the second that has begun is cut off. */
function inTwoSeconds(toForm: (date: Date, day: string, weekday: string) => string): Fault {
  return (socket, reply) => {
    const date = new Date(Date.now() + WAIT + 1000);
    const weekday = date.toLocaleDateString('en-US', { weekday: 'long', timeZone: 'UTC' });
    refuse(503, { 'retry-after': toForm(date, date.toUTCString(), weekday) })(socket, reply);
  };
}

/** These say when the next attempt may come. */
export const WAITING: Record<string, Fault> = {
  'seconds (429)': refuse(429, { 'retry-after': '1' }),
  'seconds (503)': refuse(503, { 'retry-after': '01' }),
  'a date': inTwoSeconds((_, text) => text),
  'a date of RFC 850': inTwoSeconds((_, text, weekday) =>
    text.replace(/^\w+, (\d\d) (\w+) \d\d(\d\d)/, `${weekday}, $1-$2-$3`),
  ),
  'a date of asctime': inTwoSeconds((date, text) =>
    text.replace(/^(\w+), \d\d (\w+) (\d+) (\S+) GMT/, `$1 $2 ${String(date.getUTCDate()).padStart(2)} $4 $3`),
  ),
};

/** After these, there is no other attempt. */
export const FINAL: Record<string, [Fault, message: string]> = {
  ...Object.fromEntries(
    [400, 401, 404, 413, 415, 422, 431, 501, 507].map((status) => [
      String(status),
      [refuse(status), `${status} code_${status}: No. (request r-1)`],
    ]),
  ),
  '403 without a body': [plain(403, ''), '403 bad_answer: '],
  '404 with HTML': [plain(404, HTML), '404 bad_answer: '],
  'a redirect': [sendInstead(() => ({ status: 302, headers: { location: '/v1/pets' }, text: '' })), '302 bad_answer: '],
  'a Retry-After that is too long': [refuse(503, { 'retry-after': '3600' }), '503 code_503: '],
  'a Retry-After that is no 64-bit integer': [refuse(429, { 'retry-after': '9'.repeat(30) }), '429 code_429: '],
  'a Retry-After of next century': [refuse(503, { 'retry-after': 'Sat, 06 Nov 2060 08:49:37 GMT' }), '503 code_503: '],
};
