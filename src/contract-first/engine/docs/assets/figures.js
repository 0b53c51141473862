/**
 * The samples of requests and replies on both pages: their languages and colours, the buttons for copying, and the
 * replies that the server sends.
 */
import { contractUrl, getKey, maskKey, onKey } from './key.js';
import { findWriter, LANGUAGES, makeUuid, translate } from './requests.js';

const server = document.querySelector('#page-server');

/** Resolves the URL of a server, which may be relative to the URL of the contract (OpenAPI 3.1, section 4.8.5). */
const toBase = (url) =>
  (URL.canParse(url, contractUrl) ? new URL(url, contractUrl).href : url).replace(/\/$/, '').replaceAll("'", '%27');

/**
 * The reader's choices. `servers` contains the base URLs in the order of the menu. `once` is the Idempotency-Key for
 * the next request.
 */
export const chosen = { language: 'curl', once: makeUuid(), servers: [] };

/** The placeholders in a curl command for the base URL, the reader's key and the next Idempotency-Key. */
const [BASE, KEY, ONCE] = ['\0', '<API_KEY>', '<UUID>'];
const commands = new WeakMap();

/** Returns the curl command of a figure, with its placeholders. */
function commandOf(pre) {
  if (!commands.has(pre)) {
    const texts = [...pre.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE).map(({ data }) => data);
    commands.set(pre, texts.length > 2 ? texts[0] + BASE + texts.slice(2).join('') : pre.textContent);
  }
  return commands.get(pre);
}

const baseUrl = () => chosen.servers[server.value];
const toShell = (text) => text.replaceAll("'", "'\\''");
const toLiteral = (text) => text.replace(/['"\\]/g, '\\$&');
const fillIn = (command, key, quote = toShell) =>
  command
    .replaceAll(KEY, () => quote(key))
    .replaceAll(ONCE, chosen.once)
    .replaceAll(BASE, () => baseUrl());

/** Returns the command with the real key, as it is copied and sent. */
export const completed = (pre) => fillIn(commandOf(pre), getKey() || KEY);

/**
 * Returns the elements of a figure that contain programs for one of the API clients that the page offers for copying.
 */
const programsOf = (figure) => [...figure.querySelectorAll('[data-language]')];

function languagesOf(figure) {
  const written = LANGUAGES.filter((name) => name === 'curl' || findWriter(name, figure.dataset.recipe));
  return [...written, ...programsOf(figure).map(({ dataset }) => dataset.language)];
}

/** Returns the language that a figure shows: the chosen one, or curl if the figure does not offer it. */
export const languageOf = (figure) => (languagesOf(figure).includes(chosen.language) ? chosen.language : 'curl');

/**
 * Returns the text of a figure in the chosen language. If the figure shows a recipe, such as a loop over pages, the
 * recipe is written from the request of its operation.
 */
function toText(figure, key) {
  const { recipe } = figure.dataset;
  const program = programsOf(figure).find(({ dataset }) => dataset.language === chosen.language);
  if (program) return fillIn(commandOf(program), key, toLiteral);
  const isWritten = recipe && findWriter(chosen.language, recipe);
  const operation = isWritten && decodeURIComponent(figure.querySelector('a').hash.slice(1));
  const source = isWritten ? document.getElementById(operation).querySelector('.request') : figure;
  return translate(fillIn(commandOf(source.querySelector('pre')), key), chosen.language, recipe);
}

function keepEdited(pre) {
  // Browsers represent a new line as an element, so the text is read with `innerText`.
  const text = pre.innerText.replaceAll(chosen.once, ONCE).replaceAll(baseUrl(), BASE);
  commands.set(pre, maskKey() ? text.replaceAll(maskKey(), KEY) : text);
}

/**
 * The highlights that colour strings, names and numbers without extra elements. Undefined if the browser does not
 * support them.
 */
const highlights = globalThis.CSS?.highlights;
const KINDS = ['string', 'name', 'number'];
const WORD = /("(?:[^"\\]|\\.)*")(?!:)|("(?:[^"\\]|\\.)*"):|(-?\d[\d.e+-]*)/gi;
const QUOTED = /('[^']*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)/gs;
const MOST_COLOURED = 100_000;
for (const kind of KINDS) highlights?.set(kind, new Highlight());
const coloured = new WeakMap();

function colour(pre) {
  for (const [kind, range] of coloured.get(pre) ?? []) highlights.get(kind).delete(range);
  coloured.delete(pre);
  const [node] = pre.childNodes;
  if (pre.childNodes.length !== 1 || node.length > MOST_COLOURED) return;
  const words = node.data.matchAll(pre.parentElement.matches('.request') ? QUOTED : WORD);
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

/** Creates an element with these properties and children. */
export function create(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

const button = (textContent, properties) => create('button', { type: 'button', textContent, ...properties });

function addLanguages(figure) {
  const choices = languagesOf(figure).map((name) => new Option(name));
  const select = create('select', { ariaLabel: 'Language', onchange: () => draw(select.value) }, ...choices);
  figure.querySelector('figcaption').prepend(select);
}

/**
 * Functions that the page calls for each example request when it displays the request. The reference adds its button
 * Send in this way.
 */
const decorators = new Set();
export const onDraw = (decorate) => decorators.add(decorate);

/** The figures near the screen. Only these are drawn, because a page may contain thousands. */
const near = new Set();

function drawRequest(figure, pre) {
  if (!figure.querySelector('select')) addLanguages(figure);
  figure.querySelector('select').value = languageOf(figure);
  const text = toText(figure, maskKey() || KEY);
  if (text !== pre.textContent && text !== pre.innerText) {
    const caret = pre === document.activeElement ? getSelection().focusOffset : undefined;
    pre.textContent = text;
    if (caret) getSelection().collapse(pre.firstChild, Math.min(caret, text.length));
  }
  if (!figure.dataset.recipe) for (const decorate of decorators) decorate(figure, pre);
}

export function drawFigure(figure) {
  const pre = figure.querySelector('pre');
  if (figure.matches('.request')) drawRequest(figure, pre);
  if (highlights) colour(pre);
}

export function draw(language = chosen.language) {
  chosen.language = language;
  for (const figure of near) drawFigure(figure);
}

/** Chooses a new Idempotency-Key after a reply or a copy, because the next request is for another record. */
export function renew() {
  chosen.once = makeUuid();
  draw();
}

/** Calls `onChange` for an element when it comes near the screen, and when it leaves it. */
export function watchNear(elements, onChange) {
  const report = (entries) => {
    for (const { target, isIntersecting } of entries) onChange(target, isIntersecting);
  };
  const watcher = new IntersectionObserver(report, { rootMargin: '600px' });
  for (const one of elements) watcher.observe(one);
}

/**
 * The function that scrolls to the element that the reader has just asked for. Undefined as soon as the reader scrolls,
 * or after a second.
 */
let goal;
const stay = () => {
  goal = undefined;
};
for (const step of ['wheel', 'touchmove', 'keydown']) addEventListener(step, stay, { capture: true, passive: true });

/**
 * Scrolls to an element. Figures that are drawn in the next second may move the element, so the page scrolls to it
 * again after each of them.
 */
export function goTo(element, options) {
  const scroll = () => element.scrollIntoView(options);
  goal = scroll;
  scroll();
  setTimeout(() => goal === scroll && stay(), 1000);
}

/** Draws the figures inside an element when they come near the screen. */
export const watchFigures = (part) =>
  watchNear(part.querySelectorAll('figure'), (figure, isNear) => {
    near[isNear ? 'add' : 'delete'](figure);
    if (!isNear) return;
    drawFigure(figure);
    goal?.();
  });

/** Starts a page: draws its figures, and reads the servers from the reference. */
export function startFigures(reference) {
  chosen.servers = [...reference.querySelectorAll('.server')].map(({ textContent }) => toBase(textContent));
  server.addEventListener('change', () => draw());
  onKey(draw);
  watchFigures(document);
}

document.addEventListener('input', ({ target }) => {
  if (!target.matches('.request pre')) return;
  keepEdited(target);
  drawFigure(target.parentElement);
});

/** Copies a text. Browsers offer the clipboard only on https and localhost, while `execCommand` works everywhere. */
async function copy(text, from) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = create('textarea', { value: text });
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
    from.focus();
  }
  from.textContent = 'Copied';
  setTimeout(() => {
    from.textContent = 'Copy';
  }, 2000);
}

document.addEventListener('click', async ({ target }) => {
  if (!target.matches('.copy')) return;
  const { fetch: url } = target.dataset;
  if (url) return copy(await (await fetch(url)).text(), target);
  const figure = target.closest('figure');
  const pre = figure.querySelector('pre');
  const isRequest = figure.matches('.request');
  await copy(isRequest ? toText(figure, getKey() || KEY) : pre.textContent, target);
  if (isRequest) renew();
});

/**
 * Indents JSON and keeps every digit of its numbers. Text that is not JSON is unchanged. So is all text in browsers
 * without `JSON.rawJSON`.
 */
function indent(text) {
  try {
    const keep = (_name, value, { source }) => (typeof value === 'number' ? JSON.rawJSON(source) : value);
    return JSON.stringify(JSON.parse(text, keep), null, 2);
  } catch {
    return text;
  }
}

/** Makes the figure that shows a sent request as a curl command. */
export function makeRequest(command) {
  const caption = create('figcaption', {}, button('Copy', { className: 'copy' }));
  return create('figure', { className: 'request' }, caption, create('pre', { tabIndex: 0, textContent: command }));
}

/** Statuses that allow sending the same request again with the same Idempotency-Key. */
export const PASSING = [408, 429, 500, 502, 503, 504];

const IS_TEXT = /json|text|xml|yaml|javascript|urlencoded/i;

function toBody({ text, blob }, type) {
  if (blob?.size && !IS_TEXT.test(type)) {
    const href = URL.createObjectURL(blob);
    return [
      create('p', {}, `${blob.size} bytes of ${type}. `, create('a', { href, download: 'reply', textContent: 'Save' })),
    ];
  }
  return text ? [create('pre', { tabIndex: 0, textContent: /json/i.test(type) ? indent(text) : text })] : [];
}

/**
 * Makes the figure of a reply of the server. `headers` contains pairs of name and value, and `milliseconds` is the time
 * that the reply took.
 */
export function makeReply({ status, statusText, headers, milliseconds, ...body }) {
  const type = headers.find(([name]) => name === 'content-type')?.[1] ?? '';
  const kind = status < 300 ? 'good' : status < 500 ? 'warn' : 'bad';
  const lines = headers.map(([name, value]) => `${name}: ${value}`).join('\n');
  const content = toBody(body, type);
  const copies = content[0]?.matches('pre') ? [button('Copy', { className: 'copy' })] : [];
  const title = create(
    'span',
    {},
    create('b', { className: `status ${kind}`, textContent: `${status} ${statusText}`.trim() }),
  );
  title.append(` ${milliseconds} ms${content.length > 0 ? '' : ', without a body'}`);
  const more = create('details', {}, create('summary', { textContent: `${headers.length} headers` }));
  more.append(create('pre', { tabIndex: 0, textContent: lines }));
  const figure = create('figure', { className: 'reply' }, create('figcaption', {}, title, ...copies), ...content, more);
  if (highlights && content[0]?.matches('pre')) colour(content[0]);
  return figure;
}
