/**
 * The table of faults that can happen to a reply on its way. The clients of all languages must react to each in the
 * same way.
 */
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { CheckedReply } from '../contract-check.ts';
import { KEY } from '../service.ts';

/**
 * Sends something to the client instead of the service's reply. `elsewhere` is the origin of a server that must get no
 * requests.
 */
export type Fault = (socket: Socket, reply: CheckedReply, elsewhere: string) => void;

/**
 * `again`: the client tries again and succeeds; if the fault persists, the last attempt ends in an error. `done`: the
 * first attempt succeeds. `error`: the client fails without another attempt. `either`: `again` or `done`, depending on
 * the HTTP library of the language.
 */
export type Outcome = 'again' | 'done' | 'error' | 'either';

export interface Row {
  fault: Fault;
  outcome: Outcome;
  /** The status, code, request id and beginning of the body that the error must have, as far as there are any. */
  error?: { status?: number; code?: string; requestId?: string; message?: RegExp } | undefined;
  /** The only operation to which this fault can happen. */
  only?: 'add' | 'list' | undefined;
  /** The number of requests before the error, for an error in a list. */
  requests?: number;
}

/** A reply as bytes; its headers can give a wrong Content-Length. */
export function toBytes({ status, headers, text }: CheckedReply): Buffer {
  const lines = Object.entries({ 'content-length': Buffer.byteLength(text), ...headers });
  return Buffer.from(`HTTP/1.1 ${status} X\r\n${lines.map((line) => `${line.join(': ')}\r\n`).join('')}\r\n${text}`);
}

/** Changes a reply and adds a request id, like a gateway. */
function change(to: (reply: CheckedReply, elsewhere: string) => Partial<CheckedReply>): Fault {
  return (socket, reply, elsewhere) => {
    const changed = to(reply, elsewhere);
    const headers = { ...reply.headers, 'x-request-id': 'r-1', ...changed.headers };
    socket.write(toBytes({ ...reply, ...changed, headers }));
  };
}

const body = (text: string | ((text: string) => string), type = 'application/json') =>
  change((reply) => ({
    text: typeof text === 'string' ? text : text(reply.text),
    headers: { 'content-type': type },
  }));
const replaced = (from: string | RegExp, to: string) => body((text) => text.replace(from, to));
const status = (status: number, text: string, headers: Record<string, string> = {}) =>
  change(() => ({ status, text, headers: { 'content-type': 'text/html', ...headers } }));

/** An error reply of the service itself. */
export const refuse = (code: number, headers: Record<string, string> = {}): Fault =>
  status(code, JSON.stringify({ code: `code_${code}`, message: 'No.', status: code }), {
    'content-type': 'application/json',
    ...headers,
  });

/** The bytes of the reply up to a position. */
const upTo = (to: (text: string) => number) => (reply: CheckedReply) => {
  const bytes = toBytes(reply);
  return bytes.subarray(0, to(bytes.toString('latin1')));
};
const withinHeaders = upTo(() => 40);
const withinBody = upTo((text) => text.length - 5);
const behindHeaders = upTo((text) => text.indexOf('\r\n\r\n') + 4);

/** A reply whose bytes arrive one by one, each before the client stops waiting for the next. */
function drip(first: (reply: CheckedReply) => Buffer): Fault {
  return (socket, reply) => {
    const begun = first(reply).length;
    socket.write(toBytes(reply).subarray(0, begun));
    let at = begun;
    const timer = setInterval(() => socket.write(toBytes(reply).subarray(at, ++at)), 200);
    socket.on('close', () => clearInterval(timer));
  };
}

/** A reply that never ends: `piece` is sent again and again after its beginning. */
function repeat(begin: (reply: CheckedReply) => string, piece: string): Fault {
  return (socket, reply) => {
    socket.write(begin(reply));
    const timer = setInterval(() => socket.write(piece), 5);
    socket.on('close', () => clearInterval(timer));
  };
}

const chunked = (text: string, end: string): Fault => {
  const size = Buffer.byteLength(text).toString(16);
  return (socket, { status }) =>
    socket.end(`HTTP/1.1 ${status} X\r\ntransfer-encoding: chunked\r\n\r\n${size}\r\n${text}\r\n${end}`);
};
const behind = (lines: string): Fault => {
  return (socket, reply) => socket.write(Buffer.concat([Buffer.from(lines), toBytes(reply)]));
};
const as = (status: number) => change(() => ({ status }));
const header = (name: string, value: string) => change(() => ({ headers: { [name]: value } }));
const length = (length: string, code?: number): Fault => {
  return (socket, reply) =>
    socket.end(
      toBytes({ ...reply, status: code ?? reply.status, headers: { ...reply.headers, 'content-length': length } }),
    );
};

const HTML = `<!DOCTYPE html>\n<title>Welcome</title>\n${'<p>Please log in.\n'.repeat(5000)}`;
const PAGE = /Welcome/;
const PET = '{"id":9,"name":"Rex","categoryId":7}';
const BAD = { code: 'bad_answer', requestId: 'r-1' };
const CUT = { code: 'bad_answer' };
const NONE = { status: 0, code: 'no_answer' };
/** Builds rows with this outcome (see `Outcome`). */
const rowOf =
  (outcome: Outcome) =>
  (error: Row['error'], fault: Fault, only?: Row['only']): Row => ({ fault, outcome, error, only });
const [again, final, either] = [rowOf('again'), rowOf('error'), rowOf('either')];
const done = (fault: Fault, only?: Row['only']): Row => ({ fault, outcome: 'done', only });
const rows = <Key>(keys: readonly Key[], toRow: (key: Key) => [string, Row]) => Object.fromEntries(keys.map(toRow));

const CONNECTIONS: Record<string, Row> = {
  'a connection that is closed before the reply': again(NONE, (socket) => socket.destroy()),
  'a connection that is reset before the reply': again(NONE, (socket) => socket.resetAndDestroy()),
  'a connection that is closed within the status line': again(NONE, (socket) => socket.end('HTTP/1.')),
  'a connection that is closed within the headers': again({}, (socket, reply) => socket.end(withinHeaders(reply))),
  'a connection that is closed within the body': again(CUT, (socket, reply) => socket.end(withinBody(reply))),
  'a connection that is reset within the body': again(CUT, (socket, reply) =>
    socket.write(withinBody(reply), () => setTimeout(() => socket.resetAndDestroy(), 100)),
  ),
  'a connection that is closed after the reply': done((socket, reply) => socket.end(toBytes(reply))),
  'a connection that is reset after the reply': either({}, (socket, reply) =>
    socket.write(toBytes(reply), () => setTimeout(() => socket.resetAndDestroy(), 300)),
  ),
  'silence before the reply': again(NONE, () => {}),
  'silence within the headers': again(NONE, (socket, reply) => socket.write(withinHeaders(reply))),
  'silence after the headers': again(CUT, (socket, reply) => socket.write(behindHeaders(reply))),
  'silence within the body': again(CUT, (socket, reply) => socket.write(withinBody(reply))),
  'a status line that arrives byte by byte': again(NONE, drip(upTo(() => 0))),
  'headers that arrive byte by byte': again(NONE, drip(withinHeaders)),
  'a body that arrives byte by byte': again(CUT, drip(behindHeaders)),
  'headers without end': again(
    NONE,
    repeat(() => 'HTTP/1.1 200 OK\r\n', `x-more: ${'x'.repeat(1000)}\r\n`),
  ),
  'a body without end': again(
    CUT,
    repeat(
      ({ status }) => `HTTP/1.1 ${status} X\r\ntransfer-encoding: chunked\r\n\r\n`,
      `10000\r\n${' '.repeat(0x10000)}\r\n`,
    ),
  ),
};

const FRAMING: Record<string, Row> = {
  garbage: again(NONE, (socket) => socket.end('\x16\x03\x01\0garbage\r\n\r\n')),
  'a Content-Length that is too large': again(CUT, length('99999')),
  'a Content-Length that is too small': again(CUT, length('20')),
  'a Content-Length that is not a number': either({}, length('1x')),
  'a negative Content-Length': either({}, length('-1')),
  'a chunked body that is cut off': again(CUT, chunked('[{"id":1', '')),
  'a chunk without a valid size': again(CUT, chunked('[', 'zz\r\n')),
  'a body that is declared as gzip and is not': either(CUT, header('content-encoding', 'gzip')),
  'a gzip body that is cut off': again(
    CUT,
    change(({ text }) => ({
      text: gzipSync(text).toString('latin1').slice(0, 20),
      headers: { 'content-encoding': 'gzip' },
    })),
  ),
  'a body without Content-Length that is cut off': again(CUT, (socket, { status, text }) =>
    socket.end(`HTTP/1.1 ${status} X\r\n\r\n${text.slice(0, -5)}`),
  ),
  'a body without Content-Length': done((socket, { status, headers: { link }, text }) =>
    socket.end(`HTTP/1.0 ${status} X\r\n${link ? `link: ${link}\r\n` : ''}\r\n${text}`),
  ),
  'a 100 Continue before the reply': either({}, behind('HTTP/1.1 100 Continue\r\n\r\n')),
  'a 103 Early Hints before the reply': either(
    {},
    behind('HTTP/1.1 103 Early Hints\r\nlink: </x.css>; rel=preload\r\n\r\n'),
  ),
  'a 101 Switching Protocols': again({}, (socket) =>
    socket.write('HTTP/1.1 101 X\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
  ),
};

const JSON_OF_OTHERS = ['{"status":"ok"}', 'null', '{}', '"ok"', 'true', '0', '[[]]', '[null]', '{"data":null}'];

const BODIES: Record<string, Row> = {
  HTML: again({ ...BAD, message: PAGE }, body(HTML, 'text/html')),
  'an empty body': again(BAD, body('')),
  'JSON that ends too early': again(BAD, replaced(/.{1,5}$/s, '')),
  'the JSON of the reply twice': again(BAD, replaced(/.*/s, '$&$&')),
  'the reply inside another JSON object': again(BAD, replaced(/.*/s, '{"data":$&}')),
  'deeply nested JSON': again(BAD, body('['.repeat(100_000))),
  ...rows(JSON_OF_OTHERS, (text) => [
    `the JSON ${text}`,
    again({ ...BAD, message: /status|null|\{\}|ok|true|0|\[/ }, body(text)),
  ]),
  'the JSON [] for an animal': again(BAD, body('[]'), 'add'),
  'one animal in place of a list': again(BAD, body(PET), 'list'),
  'a list that contains null': again(BAD, replaced(/\]$/, ',null]'), 'list'),
  ...rows(['"9"', 'null', '9.0', '9e0', '9.5', 'true', '9223372036854775808', '-9223372036854775809'], (id) => [
    `an id of ${id}`,
    again(BAD, replaced(/"id":\d+/, `"id":${id}`)),
  ]),
  ...rows(['id', 'name', 'categoryId'], (name) => [
    `an animal without ${name}`,
    again(BAD, replaced(`"${name}":`, '"other":')),
  ]),
  'an animal with ID in place of id': again(BAD, replaced('"id":', '"ID":')),
  'an animal with both id and ID': done(replaced(/("id":\d+)/, '$1,"ID":1,"Name":"","owner":null')),
  'an animal with two ids': either(BAD, replaced('"id":', '"id":0,"id":')),
  'a name of null': again({}, replaced(/"name":"[^"]*"/, '"name":null')),
  'a name that is a number': again({}, replaced(/"name":"[^"]*"/, '"name":1')),
  'a status of null': again({}, replaced(/"status":"[^"]*"/, '"status":null')),
  'a body that is not UTF-8': again(CUT, (socket, reply) => {
    const bytes = Buffer.from(toBytes(reply).toString('latin1').replace('"name":"R', '"name":"\xe9'), 'latin1');
    socket.write(bytes);
  }),
  'a body in UTF-8 whose Content-Type names another encoding': done(
    header('content-type', 'application/json; charset=utf-16'),
  ),
  'unknown headers and fields': done((socket, { status, headers: { link = '' }, text }) => {
    const more = text.replace('{', '{"owner":{"id":1.5,"tags":[null]},');
    socket.write(toBytes({ status, headers: { 'x-more': '1\r\nx-more: 2', link }, text: more }));
  }),
};

const OTHER_JSON = '{"code":502,"message":"Upstream","error":{}}';

const STATUSES: Record<string, Row> = {
  ...rows([408, 429, 500, 502, 503, 504], (code) => [
    String(code),
    again({ status: code, code: `code_${code}`, requestId: 'r-1' }, refuse(code)),
  ]),
  ...rows([500, 502, 503, 504], (code) => [
    `a ${code} with HTML`,
    again({ ...BAD, status: code, message: PAGE }, status(code, HTML)),
  ]),
  'a 502 with the JSON of a gateway': again({ ...BAD, status: 502, message: /Upstream/ }, status(502, OTHER_JSON)),
  'a 503 with the body of another status': again(
    { ...BAD, status: 503, message: /gone/ },
    status(503, '{"code":"gone","message":"Gone.","status":410}'),
  ),
  'a 504 without a body': again({ ...BAD, status: 504 }, status(504, '')),
  ...rows([200, 201, 202], (code) => [
    `a ${code} with the JSON of a gateway`,
    again({ ...BAD, status: code, message: /status.*ok/ }, status(code, '{"status":"ok"}')),
  ]),
  'a 201 without a body': again({ ...BAD, status: 201 }, status(201, '')),
  'a 200 in place of 201': again(BAD, as(200), 'add'),
  'a 201 in place of 200': again(BAD, as(201), 'list'),
  '204': again({ ...BAD, status: 204 }, (socket) => socket.write('HTTP/1.1 204 X\r\nx-request-id: r-1\r\n\r\n')),
  ...rows([400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 431, 501, 505, 507], (code) => [
    `a ${code}`,
    final({ status: code, code: `code_${code}`, requestId: 'r-1', message: /No\./ }, refuse(code)),
  ]),
  ...rows([401, 403, 411], (code) => [`a ${code} without a body`, final({ ...BAD, status: code }, status(code, ''))]),
  // The fetch of browsers and of Node.js takes a 407 for no answer, and sends the request again after a 421.
  ...rows([407, 421], (code) => [`a ${code} without a body`, either({}, status(code, ''))]),
  'an error with control characters': final(
    { status: 400 },
    status(400, JSON.stringify({ code: 'a\nb', message: '\x1b[1m\r\n', status: 400 })),
  ),
  "a page that shows the request's headers": again(
    { ...BAD, status: 502, message: /Authorization/ },
    status(502, `<pre>Authorization: Bearer ${KEY}\nHost: x</pre>`),
  ),
  'a 404 with HTML': final({ ...BAD, status: 404, message: PAGE }, status(404, HTML)),
  'a 404 that is cut off': final({ ...CUT, status: 404 }, length('99999', 404)),
  ...rows([300, 301, 302, 303, 304, 307, 308], (code) => [
    `a redirect, ${code}`,
    final(
      { ...BAD, status: code },
      change((_, elsewhere) => ({ status: code, text: '', headers: { location: `${elsewhere}/v1/pets` } })),
    ),
  ]),
};

const RETRY_AFTER: Record<string, Row> = {
  ...rows(
    ['soon', '-1', '1.5', '0x10', '', '1 s', 'Fri, 99 Foo 99999 99:99:99 GMT', 'Sun, 06 Nov 1994 08:49:37 GMT'],
    (value) => [
      `a Retry-After of "${value}"`,
      again({ status: 503, code: 'code_503' }, refuse(503, { 'retry-after': value })),
    ],
  ),
  ...rows(['55', '3600', '9'.repeat(30), '9'.repeat(400), 'Sat, 06 Nov 2060 08:49:37 GMT'], (value) => [
    `a Retry-After of "${value}", beyond the client's total time`,
    final({ status: 429, code: 'code_429' }, refuse(429, { 'retry-after': value })),
  ]),
  "HTML with a Retry-After beyond the client's total time": final(
    { ...BAD, status: 503, message: PAGE },
    status(503, HTML, { 'retry-after': '55' }),
  ),
};

type ToLink = (url: string, elsewhere: string) => string;

const link = (value: ToLink): Fault =>
  change(({ headers }, elsewhere) => {
    const [, url = ''] = /<(.*)>/.exec(headers.link ?? '') ?? [];
    return { headers: url ? { link: value(url, elsewhere) } : {} };
  });

/** Links to the next page that clients must follow. */
const LINKS: Record<string, ToLink> = {
  'a next page on another host': (url, to) => `<${to}${url}>; rel="next"`,
  'a next page with other parameters': (url) => `<${url}>; title="more"; rel=next`,
  'other links around the link to the next page': (url) =>
    `</x.css?v=1>; rel=preload, <${url}>; rel="next", </v1/pets?limit=1>; rel="first"`,
  'links in separate header lines': (url) =>
    `</x.css>; rel=preload\r\nlink: <${url}>; rel="next"\r\nlink: <?x=1>; rel="last"`,
};

const FIRST = '</v1/pets?limit=100&status=pending>; rel="next"';

/** Links that clients must not follow, and the number of requests until the client notices. */
const LOOPS: Record<string, [requests: number, fault: Fault]> = {
  'a next page that is the page itself': [1, header('link', FIRST)],
  'next pages that form a cycle': [2, change(({ headers: { link = FIRST } }) => ({ headers: { link } }))],
  'a next page without a cursor': [1, link(() => '</v1/pets>; rel="next"')],
  'a next page that is not a URL': [1, link(() => '<?after=a b|c>; rel="next"')],
};

export const FAULTS: Record<string, Row> = {
  ...CONNECTIONS,
  ...FRAMING,
  ...BODIES,
  ...STATUSES,
  ...RETRY_AFTER,
  ...rows(Object.keys(LINKS), (name) => [name, done(link(LINKS[name] as ToLink), 'list')]),
  ...rows(Object.entries(LOOPS), ([name, [requests, fault]]) => [
    name,
    { ...final({ status: 200, ...BAD }, fault, 'list'), requests },
  ]),
};

/** The time after a reply with Retry-After in which the client must not try again, in milliseconds. */
export const WAIT = 1000;

/**
 * Two seconds from now, in one of the three forms of RFC 9110, section 5.6.7. These forms have no fractions of a
 * second, so the time is up to one second less.
 */
function inTwoSeconds(toForm: (date: Date, day: string, weekday: string) => string): Fault {
  return (socket, reply, elsewhere) => {
    const date = new Date(Date.now() + WAIT + 1000);
    const weekday = date.toLocaleDateString('en-US', { weekday: 'long', timeZone: 'UTC' });
    refuse(503, { 'retry-after': toForm(date, date.toUTCString(), weekday) })(socket, reply, elsewhere);
  };
}

/** Replies that say when the client may try again. */
export const WAITING: Record<string, Fault> = {
  'one second (status 429)': refuse(429, { 'retry-after': '1' }),
  'one second (status 503)': refuse(503, { 'retry-after': '01' }),
  'a date': inTwoSeconds((_, text) => text),
  'a date in the format of RFC 850': inTwoSeconds((_, text, weekday) =>
    text.replace(/^\w+, (\d\d) (\w+) \d\d(\d\d)/, `${weekday}, $1-$2-$3`),
  ),
  'a date in the format of asctime': inTwoSeconds((date, text) =>
    text.replace(/^(\w+), \d\d (\w+) (\d+) (\S+) GMT/, `$1 $2 ${String(date.getUTCDate()).padStart(2)} $4 $3`),
  ),
};
