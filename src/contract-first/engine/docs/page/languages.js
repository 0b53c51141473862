/** Writes a curl command as JavaScript and as Python. Its body stays text, so that no digit of a number is lost. */

/** Shell words, without their quotes. A backslash at the end of a line joins it to the next. */
const WORD = /(?:'[^']*'|\\[^\n]|[^\s'\\])+/g;
const unquote = (word) => word.replace(/'([^']*)'|\\(.)/g, '$1$2');

/** Undefined for a body that curl reads from a file or encodes itself. */
function toRequest(command) {
  const [, ...words] = command.match(WORD).map(unquote);
  const request = { method: undefined, url: words.pop(), headers: [], body: undefined };
  const options = {
    '-i': () => {},
    '--head': () => {
      request.method = 'HEAD';
    },
    '-X': () => {
      request.method = words.shift();
    },
    '-H': () => request.headers.push(/^(.*?): (.*)$/s.exec(words.shift()).slice(1)),
    '-d': () => {
      request.body = words.shift();
    },
  };
  while (words.length > 0) {
    const take = options[words.shift()];
    if (!take) return undefined;
    take();
  }
  return { ...request, method: request.method ?? (request.body === undefined ? 'GET' : 'POST') };
}

/** A JSON string is also a string literal in both languages; apostrophes around JSON are easier to read. */
const quote = (text) => (/['\\\n]/.test(text) ? JSON.stringify(text) : `'${text}'`);
const long = (text, mark, escaped) => (text.includes('\n') ? mark + text.replace(escaped, '\\$&') + mark : quote(text));

/** In bytes, which is shorter, Python takes ASCII characters only. */
function toBytes(text) {
  const literal = long(text, '"""', /["\\]/g);
  return /^[ -~\n]*$/.test(text) ? `b${literal}` : `${literal}.encode()`;
}

const WRITERS = {
  JavaScript: ({ method, url, headers, body }) => `const reply = await fetch(${quote(url)}, {
  method: ${quote(method)},
  headers: {${headers.map(([name, value]) => `\n    ${quote(name)}: ${quote(value)},`).join('')}
  },${body === undefined ? '' : `\n  body: ${long(body, '`', /[`\\]|\$\{/g)},`}
});
console.log(reply.status, await reply.text());`,

  Python: ({ method, url, headers, body }) => `from urllib.error import HTTPError
from urllib.request import Request, urlopen

request = Request(
    ${quote(url)},
    method=${quote(method)},
    headers={${headers.map(([name, value]) => `\n        ${quote(name)}: ${quote(value)},`).join('')}
    },${body === undefined ? '' : `\n    data=${toBytes(body)},`}
)
try:
    reply = urlopen(request)
except HTTPError as error:
    reply = error
print(reply.status, reply.read().decode())`,
};

export const LANGUAGES = ['curl', ...Object.keys(WRITERS)];

/** The command in another language; the command itself, where it cannot be written so. */
export function translate(command, language) {
  const request = WRITERS[language] && toRequest(command);
  return request ? WRITERS[language](request) : command;
}
