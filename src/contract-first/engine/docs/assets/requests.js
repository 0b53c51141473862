/** Reads a curl command, and writes the same request in other languages. Bodies stay text, so that no digit is lost. */

/** Makes a UUID. Browsers offer `crypto.randomUUID` only on https and localhost. */
export function makeUuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/(.{8})(.{4}).(.{3}).(.{3})(.{12})/, '$1-$2-4$3-a$4-$5');
}

/** Matches a word in a shell command. A backslash at the end of a line joins it to the next line. */
const SHELL_WORD = /(?:'[^']*'|"[^"]*"|\\[^\n]|[^\s'"\\])+/g;
const unquote = (word) => word.replace(/'([^']*)'|"([^"]*)"|\\(.)/g, '$1$2$3');

/**
 * Encodes the user name and password for basic authentication. A masked key is not encoded, so that its dots stay
 * visible.
 */
const toBasic = (pair) => (/[•<]/.test(pair) ? `Basic ${pair}` : `Basic ${btoa(pair)}`);

/**
 * Parses a curl command. Returns undefined for other text, and for a body that curl would read from a file or encode
 * itself.
 */
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

/** Writes a request that the form has sent as a curl command, with `<API_KEY>` in place of the key. */
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

/**
 * Writes a string literal that is valid in both JavaScript and Python. Apostrophes are preferred as quotes, because
 * JSON contains many quotation marks.
 */
const quote = (text) => (/['\\\n]/.test(text) ? JSON.stringify(text) : `'${text}'`);
const long = (text, mark, escaped) => (text.includes('\n') ? mark + text.replace(escaped, '\\$&') + mark : quote(text));

/** Writes the bytes of a body in Python. Bytes literals are shorter, but contain only ASCII characters. */
function toBytes(text) {
  const literal = long(text, '"""', /["\\]/g);
  return /^[ -~\n]*$/.test(text) ? `b${literal}` : `${literal}.encode()`;
}

const toLines = (pairs, indent) => pairs.map(([name, value]) => `\n${indent}${quote(name)}: ${quote(value)},`).join('');

const toOptions = ({ method, headers, body }) => `{
  method: ${quote(method)},
  headers: {${toLines(headers, '    ')}
  },${body === undefined ? '' : `\n  body: ${long(body, '`', /[`\\]|\$\{/g)},`}
}`;

const toPython = ({ url, method, headers, body }) => `request = Request(
    ${quote(url)},
    method=${quote(method)},
    headers={${toLines(headers, '        ')}
    },${body === undefined ? '' : `\n    data=${toBytes(body)},`}
)`;

const [ERRORS, REQUEST] = ['from urllib.error import HTTPError', 'from urllib.request import Request, urlopen'];
const AGAIN = '408, 429, 500, 502, 503, 504';

/** The functions that write programs, by language and recipe. `sample` writes the sample of an operation. */
const WRITERS = {
  JavaScript: {
    sample: (request) => `const reply = await fetch(${quote(request.url)}, ${toOptions(request)});
console.log(reply.status, await reply.text());`,

    pages: (request) => `const request = ${toOptions(request)};
let url = ${quote(request.url)};
while (url) {
  const reply = await fetch(url, request);
  if (!reply.ok) throw new Error(\`\${reply.status} \${await reply.text()}\`);
  console.log(await reply.text());
  const [, next] = /<([^>]*)>; *rel="next"/.exec(reply.headers.get('link') ?? '') ?? [];
  url = next && new URL(next, url).href;
}`,

    retries: (request) => `// Keep the request and its key until there is an answer.
const request = ${toOptions(request)};
for (let attempt = 1; ; attempt++) {
  const reply = await fetch(${quote(request.url)}, request).catch((error) => error);
  const isPassing = !reply.status || [${AGAIN}].includes(reply.status);
  if (attempt < 6 && isPassing) {
    const wait = reply.headers?.get('retry-after') ?? 2 ** attempt * (0.5 + Math.random() / 2);
    await new Promise((resolve) => setTimeout(resolve, wait * 1000));
    continue;
  }
  if (!reply.status) throw reply;
  const text = await reply.text();
  if (!reply.ok) throw new Error(\`\${reply.status} \${text}\`);
  console.log(reply.status, text);
  break;
}`,

    errors: (request) => `const reply = await fetch(${quote(request.url)}, ${toOptions(request)});
const text = await reply.text();
if (reply.ok) console.log(text);
else if ([401, 403].includes(reply.status)) throw new Error(\`Check the key: \${text}\`);
else if ([${AGAIN}].includes(reply.status)) throw new Error(\`Send it again later: \${text}\`);
else throw new Error(\`Correct the request: \${text}\`);`,
  },

  Python: {
    sample: (request) => `${ERRORS}\n${REQUEST}

${toPython(request)}
try:
    reply = urlopen(request)
except HTTPError as error:
    reply = error
print(reply.status, reply.read().decode())`,

    pages: (request) => `import re
from urllib.parse import urljoin
${REQUEST}

${toPython(request)}
while True:
    reply = urlopen(request)
    print(reply.read().decode())
    link = re.search('<([^>]*)>; *rel="next"', reply.headers.get('Link') or '')
    if not link:
        break
    request.full_url = urljoin(request.full_url, link[1])`,

    retries: (request) => `import random, time
${REQUEST}

# Keep the request and its key until there is an answer.
${toPython(request)}
for attempt in range(1, 7):
    try:
        reply = urlopen(request, timeout=10)
        break
    except OSError as error:
        status = getattr(error, 'code', 0)
        if attempt == 6 or status and status not in (${AGAIN}):
            raise
        wait = status and error.headers.get('Retry-After')
        time.sleep(float(wait or 2**attempt * (0.5 + random.random() / 2)))
print(reply.status, reply.read().decode())`,

    errors: (request) => `${ERRORS}\n${REQUEST}

${toPython(request)}
try:
    print(urlopen(request).read().decode())
except HTTPError as error:
    text = error.read().decode()
    if error.code in (401, 403):
        raise SystemExit('Check the key: ' + text)
    if error.code in (${AGAIN}):
        raise SystemExit('Send it again later: ' + text)
    raise SystemExit('Correct the request: ' + text)`,
  },
};

export const LANGUAGES = ['curl', ...Object.keys(WRITERS)];

/**
 * Returns the function that writes a recipe in a language; undefined if such a function does not exist. For the recipe
 * `rates`, this is the function for `retries`, because its program also waits for the rate limit.
 */
export const findWriter = (language, recipe = 'sample') => WRITERS[language]?.[recipe.replace('rates', 'retries')];

/** Translates a curl command to another language. Returns the command unchanged if that is impossible. */
export function translate(command, language, recipe) {
  const [write, request] = [findWriter(language, recipe), toRequest(command)];
  return write && request ? write(request) : command;
}
