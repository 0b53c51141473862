/** The table of contents of both pages: it searches, and highlights the entry that is being read. */
import { goTo } from './figures.js';

const nav = document.querySelector('#page-contents');
const field = nav.querySelector('input');
const output = nav.querySelector('output');
export const links = [...nav.querySelectorAll('a[href*="#"]')];
const idOf = (link) => decodeURIComponent(link.hash.slice(1));
nav.querySelector('#page-search').hidden = false;

/**
 * Returns the document with the sections to search. The form replaces this function by one that fetches the reference.
 */
let loadDocument = async () => document;
let texts;

export function searchIn(load) {
  loadDocument = load;
}

/**
 * Returns a map from each entry to three texts to search: the title; the title and the names of the fields; the title
 * and the whole section. A match in an earlier text is a better match.
 */
async function loadTexts() {
  const page = await loadDocument();
  const textsOf = (link) => {
    const target = page.getElementById(link.dataset.section ?? idOf(link));
    const part = target?.matches('section') ? target : target?.nextElementSibling;
    const names = [...(part?.querySelectorAll('dt > a') ?? [])].map((one) => one.textContent);
    return [[], names, [part?.textContent]].map((more) => [link.textContent, ...more].join(' ').toLowerCase());
  };
  return new Map(links.map((link) => [link, textsOf(link)]));
}

const toWords = (query) => query.toLowerCase().split(/\s+/).filter(Boolean);

/** Highlights the words in the sections, if the browser supports that. */
function mark(words) {
  const ranges = [];
  const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  while (words.length > 0 && walker.nextNode()) {
    const text = walker.currentNode.data.toLowerCase();
    for (const word of words)
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = { startContainer: walker.currentNode, endContainer: walker.currentNode };
        ranges.push(new StaticRange({ ...range, startOffset: at, endOffset: at + word.length }));
      }
  }
  globalThis.CSS?.highlights?.set('found', new Highlight(...ranges));
  return ranges;
}

const search = { found: [], next: 0, ranges: [] };

async function find(query) {
  texts ??= loadTexts();
  const [known, words] = [await texts, toWords(query)];
  if (query !== field.value) return;
  const rankOf = (link) => known.get(link).findIndex((text) => words.every((word) => text.includes(word)));
  for (const link of links) link.parentElement.hidden = rankOf(link) < 0;
  for (const group of nav.querySelectorAll('details'))
    group.hidden = words.length > 0 && !group.querySelector('li:not([hidden]) > a[href*="#"]');
  const found = links.filter((link) => !link.parentElement.hidden);
  search.found = words.length > 0 ? found.sort((one, other) => rankOf(one) - rankOf(other)) : [];
  search.next = 0;
  search.ranges = mark(words);
  output.textContent = words.length > 0 ? `${found.length} found${found.length > 0 ? ', Enter goes on' : ''}` : '';
}

/**
 * Goes to the next entry that the search has found, and scrolls to a highlighted word in its section: the first name of
 * a field or status, or else the first highlighted word.
 */
function goOn() {
  const link = search.found[search.next++ % search.found.length];
  if (!link) return;
  link.click();
  // Following a link inside the page moves the focus away from the search field, so the focus is set back.
  setTimeout(() => field.focus({ preventScroll: true }), 100);
  const section = document.getElementById(idOf(link))?.closest('section');
  const marked = search.ranges.map(({ startContainer }) => startContainer.parentElement);
  const inside = marked.filter((one) => section?.contains(one));
  const first = inside.find((one) => one.closest('dt')) ?? inside[0];
  if (first?.getBoundingClientRect().top > innerHeight * 0.8) goTo(first, { block: 'center' });
}

field.addEventListener('input', () => find(field.value));
field.addEventListener('keydown', async ({ key }) => {
  if (key !== 'Enter') return;
  await texts;
  goOn();
});
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest?.('input, textarea, select, [contenteditable]');
  const isAsked = event.key === 'k' ? event.ctrlKey || event.metaKey : event.key === '/' && !isTyping;
  if (!isAsked) return;
  event.preventDefault();
  if (!nav.checkVisibility()) nav.showPopover();
  field.focus();
});
nav.addEventListener('click', ({ target }) => target.closest('a') && nav.matches(':popover-open') && nav.hidePopover());

export function setCurrent(link) {
  for (const one of links) one.ariaCurrent = one === link ? 'true' : null;
  link?.scrollIntoView({ block: 'nearest' });
}

/**
 * Highlights the entry of the section that the reader is reading: the last section with its top above a certain line
 * near the top of the window. On the last screen of the page, this line moves down to the bottom of the window, so that
 * every entry is highlighted once.
 */
export function followReading() {
  const targets = links.map((link) => [link, document.getElementById(idOf(link))]).filter(([, target]) => target);
  let current;
  const update = () => {
    const rest = document.documentElement.scrollHeight - innerHeight - scrollY;
    const line = innerHeight * (0.15 + 0.85 * Math.max(0, 1 - rest / innerHeight));
    let [low, high] = [0, targets.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (targets[middle][1].getBoundingClientRect().top <= line) low = middle + 1;
      else high = middle;
    }
    const [link] = targets[Math.max(0, low - 1)] ?? [];
    if (link !== current) setCurrent(link);
    current = link;
  };
  let isWaiting = false;
  addEventListener('scroll', () => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      update();
    });
  });
  update();
}
