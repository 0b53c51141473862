/** A request as text: reads a curl command, and writes it in other languages. Bodies stay text, so that no digit is lost. */

/** Not `crypto.randomUUID`, which browsers do not have on plain http. */
export function makeUuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/(.{8})(.{4}).(.{3}).(.{3})(.{12})/, '$1-$2-4$3-a$4-$5');
}

/** A word of a shell. A backslash at the end of a line joins it to the next. */
const SHELL_WORD = /(?:'[^']*'|"[^"]*"|\\[^\n]|[^\s'"\\])+/g;
const unquote = (word) => word.replace(/'([^']*)'|"([^"]*)"|\\(.)/g, '$1$2$3');

/** Dots of a masked key are not encoded, so that they can be recognized. */
const toBasic = (pair) => (/[•<]/.test(pair) ? `Basic ${pair}` : `Basic ${btoa(pair)}`);

/** Undefined for a body that curl reads from a file or encodes itself, and for what is not a curl command. */
export function toRequest(command) {
  const [first, ...words] = (command.match(SHELL_WORD) ?? []).map(unquote);
  const request = { method: undefined, url: undefined, headers: [], body: undefined };
  if (first !== 'curl') return undefined;
  while (words.length > 0) {
    const word = words.shift();
    if (word === '-H') {
      const [, name, value] = /^([^:]+): *(.*)$/s.exec(words.shift()) ?? [];
      if (name) request.headers.push([name, value]);
    } else if (word === '-X') request.method = words.shift();
    else if (word === '-u') request.headers.push(['Authorization', toBasic(words.shift())]);
    else if (word === '-d') request.body = words.shift();
    else if (word === '--head') request.method = 'HEAD';
    else if (!word.startsWith('-')) request.url = word;
    else if (word !== '-i') return undefined;
  }
  return request.url && { ...request, method: request.method ?? (request.body === undefined ? 'GET' : 'POST') };
}

const toWord = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;

/** A request that the form has sent, with `<API_KEY>` in place of the key. */
export function writeCurl({ url, method, headers = {}, body }, key) {
  const basic = key && `Basic ${btoa(unescape(encodeURIComponent(`${key}:`)))}`;
  const hide = (text) =>
    key ? text.replaceAll(key, '<API_KEY>').replaceAll(encodeURIComponent(key), '<API_KEY>') : text;
  delete headers.accept;
  const options = Object.entries(headers).map(([name, value]) =>
    value === basic ? "-u '<API_KEY>:'" : `-H ${toWord(hide(`${name}: ${value}`))}`,
  );
  if (body instanceof FormData)
    for (const [name, value] of body)
      options.push(`-F ${toWord(value instanceof File ? `${name}=@${value.name}` : `${name}=${value}`)}`);
  else if (body !== undefined) options.push(body instanceof Blob ? "--data-binary '@file'" : `-d ${toWord(body)}`);
  const verb = method === (body === undefined ? 'GET' : 'POST') ? '-i' : `-i -X ${method}`;
  return [`curl ${method === 'HEAD' ? '--head' : verb}`, ...options, toWord(hide(url))].join(' \\\n  ');
}

/** A JSON string is also a string literal in both languages; apostrophes around JSON are easier to read. */
const quote = (text) => (/['\\\n]/.test(text) ? JSON.stringify(text) : `'${text}'`);
const long = (text, mark, escaped) => (text.includes('\n') ? mark + text.replace(escaped, '\\$&') + mark : quote(text));

/** In bytes, which is shorter, Python takes ASCII characters only. */
function toBytes(text) {
  const literal = long(text, '"""', /["\\]/g);
  return /^[ -~\n]*$/.test(text) ? `b${literal}` : `${literal}.encode()`;
}

const toLines = (pairs, indent) => pairs.map(([name, value]) => `\n${indent}${quote(name)}: ${quote(value)},`).join('');

const WRITERS = {
  JavaScript: ({ method, url, headers, body }) => `const reply = await fetch(${quote(url)}, {
  method: ${quote(method)},
  headers: {${toLines(headers, '    ')}
  },${body === undefined ? '' : `\n  body: ${long(body, '`', /[`\\]|\$\{/g)},`}
});
console.log(reply.status, await reply.text());`,

  Python: ({ method, url, headers, body }) => `from urllib.error import HTTPError
from urllib.request import Request, urlopen

request = Request(
    ${quote(url)},
    method=${quote(method)},
    headers={${toLines(headers, '        ')}
    },${body === undefined ? '' : `\n    data=${toBytes(body)},`}
)
try:
    reply = urlopen(request)
except HTTPError as error:
    reply = error
print(reply.status, reply.read().decode())`,
};

export const LANGUAGES = ['curl', ...Object.keys(WRITERS)];

/** The command in another language, or as it is if that is impossible. */
export function translate(command, language) {
  const request = WRITERS[language] && toRequest(command);
  return request ? WRITERS[language](request) : command;
}
