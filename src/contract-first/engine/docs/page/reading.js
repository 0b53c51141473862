/** Fills this server, the reader's API key and an Idempotency-Key into the requests; copies and sends them. */
import { copy } from './copy.js';

const server = new URL('../..', import.meta.url).href.replace(/\/$/, '');
const key = document.querySelector('#key');

function fill(name, toText) {
  for (const element of document.querySelectorAll(`[data-fill=${name}]`)) element.textContent = toText();
}

/** Not `crypto.randomUUID`, which browsers do not have on plain http. */
const toOnce = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

async function send(path) {
  const output = document.querySelector('output');
  try {
    const reply = await fetch(server + path, { headers: { authorization: `Bearer ${key.value}` } });
    output.textContent = `${reply.status} ${reply.statusText}\n${await reply.text()}`;
  } catch (error) {
    output.textContent = error.message;
  }
}

const ACTIONS = {
  async copy(button, selector) {
    await copy(document.querySelector(selector).textContent, button);
    // The next request is for another record.
    fill('once', toOnce);
  },
  fetch: async (button, url) => copy(await (await fetch(url)).text(), button),
  send: (_button, path) => send(path),
};

document.addEventListener('click', ({ target }) => {
  for (const [name, act] of Object.entries(ACTIONS)) if (target.dataset?.[name]) act(target, target.dataset[name]);
});
key?.addEventListener('input', () => fill('key', () => key.value || '<API_KEY>'));
fill('url', () => server);
fill('once', toOnce);
