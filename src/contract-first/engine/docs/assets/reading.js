/** Shows requests for the chosen server, key and language; copies; searches. Without it, all can be read. */
document.documentElement.classList.add('script');
const byId = (id) => document.getElementById(id);
const server = byId('page-server');
const key = byId('page-key')?.querySelector('input');
for (const one of [server, byId('page-key'), byId('page-search')]) one?.removeAttribute('hidden');

/** Relative URLs of servers are relative to that of the contract (OpenAPI 3.1, section 4.8.5). */
const contract = new URL('../../openapi.json', import.meta.url);
const servers = [...document.querySelectorAll('.server')].map(({ textContent }) => {
  const url = URL.canParse(textContent, contract) ? new URL(textContent, contract).href : textContent;
  return url.replace(/\/$/, '').replaceAll("'", '%27');
});

/** Not `crypto.randomUUID`, which browsers do not have on plain http. */
function makeUuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/(.{8})(.{4}).(.{3}).(.{3})(.{12})/, '$1-$2-4$3-a$4-$5');
}

const chosen = { language: 'curl', once: makeUuid() };
/** The text of each request around its base URL, as it came. */
const commands = new WeakMap();

function toCommand(pre) {
  if (!commands.has(pre)) {
    const [start, , end] = [...pre.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE);
    commands.set(pre, [start.data, end.data]);
  }
  const secret = (key?.value || '<API_KEY>').replaceAll("'", "'\\''");
  const parts = commands
    .get(pre)
    .map((part) => part.replaceAll('<API_KEY>', () => secret).replace('<UUID>', chosen.once));
  return parts.join(servers[server.value]);
}

/** A word of a shell. A backslash at the end of a line joins it to the next. */
const SHELL_WORD = /(?:'[^']*'|\\[^\n]|[^\s'\\])+/g;

/** Undefined for a body that curl reads from a file or encodes itself. */
function toRequest(command) {
  const [, ...words] = command.match(SHELL_WORD).map((word) => word.replace(/'([^']*)'|\\(.)/g, '$1$2'));
  const request = { method: undefined, url: words.pop(), headers: [], body: undefined };
  while (words.length > 0) {
    const option = words.shift();
    if (option === '-H') request.headers.push(/^(.*?): (.*)$/s.exec(words.shift()).slice(1));
    else if (option === '-X') request.method = words.shift();
    else if (option === '-d') request.body = words.shift();
    else if (option === '--head') request.method = 'HEAD';
    else if (option !== '-i') return undefined;
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

const LANGUAGES = ['curl', ...Object.keys(WRITERS)];

/** The command in another language, or as it is where that cannot be. Its body stays text, so that no digit is lost. */
function translate(command, language) {
  const request = WRITERS[language] && toRequest(command);
  return request ? WRITERS[language](request) : command;
}

/** Colours without elements, where browsers have them: of strings, JSON's names and numbers. */
const highlights = globalThis.CSS?.highlights;
const KINDS = ['string', 'name', 'number'];
const WORD = /("(?:[^"\\]|\\.)*")(?!:)|("(?:[^"\\]|\\.)*"):|(-?\d[\d.e+-]*)/gi;
const QUOTED = /('[^']*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)/gs;
for (const kind of KINDS) highlights?.set(kind, new Highlight());
const coloured = new WeakMap();

function colour(pre) {
  for (const [kind, range] of coloured.get(pre) ?? []) highlights.get(kind).delete(range);
  const [node] = pre.childNodes;
  const words = pre.textContent.matchAll(pre.parentElement.matches('.request') ? QUOTED : WORD);
  const made = [...words].map(({ index, ...groups }) => {
    const at = KINDS.findIndex((_, position) => groups[position + 1]);
    const end = index + groups[at + 1].length;
    return [
      KINDS[at],
      new StaticRange({ startContainer: node, startOffset: index, endContainer: node, endOffset: end }),
    ];
  });
  for (const [kind, range] of made) highlights.get(kind).add(range);
  coloured.set(pre, made);
}

function addLanguages(figure) {
  const group = document.createElement('span');
  group.role = 'group';
  group.ariaLabel = 'Language';
  group.append(
    ...LANGUAGES.map((name) => {
      const button = document.createElement('button');
      return Object.assign(button, { type: 'button', textContent: name, onclick: () => draw(name) });
    }),
  );
  figure.querySelector('figcaption').prepend(group);
}

/** The figures near the screen, which are drawn; others wait, since a page may have thousands. */
const near = new Set();

function drawFigure(figure) {
  const pre = figure.querySelector('pre');
  if (figure.matches('.request')) {
    if (!figure.querySelector('[role=group]')) addLanguages(figure);
    const command = toCommand(pre);
    pre.textContent = translate(command, chosen.language);
    for (const button of figure.querySelectorAll('[role=group] button'))
      button.ariaPressed = String(button.textContent === chosen.language);
  }
  if (highlights) colour(pre);
}

function draw(language = chosen.language) {
  chosen.language = language;
  for (const figure of near) drawFigure(figure);
}

const watcher = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) near.delete(target);
      else if (!near.has(target)) {
        near.add(target);
        drawFigure(target);
      }
    }
  },
  { rootMargin: '600px' },
);
for (const figure of document.querySelectorAll('figure')) watcher.observe(figure);
server.addEventListener('change', () => draw());
key?.addEventListener('input', () => draw());

/** Copies a text, and says so on the button. Browsers have the clipboard only on https and localhost; `execCommand` works everywhere. */
async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
    button.focus();
  }
  button.textContent = 'Copied';
  setTimeout(() => {
    button.textContent = 'Copy';
  }, 2000);
}

document.addEventListener('click', async ({ target }) => {
  if (target.matches('#page-contents a')) byId('page-contents').hidePopover();
  if (!target.matches('.copy')) return;
  const { fetch: url } = target.dataset;
  await copy(url ? await (await fetch(url)).text() : target.closest('figure').querySelector('pre').textContent, target);
  // The next request is for another record.
  chosen.once = makeUuid();
  draw();
});

/** The texts that the entries of the contents lead to, in lower case; read when somebody searches. */
let texts;
const sectionOf = (link) => byId(decodeURIComponent(link.hash.slice(1)))?.closest('section');
const links = [...document.querySelectorAll('#page-contents a[href^="#"]')];

function search(query) {
  texts ??= new Map(links.map((link) => [link, `${link.textContent} ${sectionOf(link)?.textContent}`.toLowerCase()]));
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  for (const [link, text] of texts) link.parentElement.hidden = !words.every((word) => text.includes(word));
  const found = links.filter((link) => !link.parentElement.hidden);
  byId('page-search').querySelector('output').textContent = words.length > 0 ? `${found.length} found` : '';
  return found;
}

byId('page-search').addEventListener('input', ({ target }) => search(target.value));
byId('page-search').addEventListener('keydown', ({ key: pressed, target }) => {
  if (pressed !== 'Enter') return;
  const found = search(target.value);
  const isTitled = (link) => link.textContent.toLowerCase().includes(target.value.trim().toLowerCase());
  (found.find(isTitled) ?? found[0])?.click();
});

/** The entry of the section at the top of the screen. */
const reader = new IntersectionObserver(
  (entries) => {
    const read = entries.filter(({ isIntersecting }) => isIntersecting).at(-1)?.target;
    const link = links.find((one) => sectionOf(one) === read);
    if (!link) return;
    for (const one of links) one.ariaCurrent = one === link ? 'true' : null;
    link.scrollIntoView({ block: 'nearest' });
  },
  { rootMargin: '-15% 0px -80% 0px' },
);
for (const section of new Set(links.map(sectionOf))) if (section) reader.observe(section);
