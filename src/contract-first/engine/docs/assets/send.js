/**
 * Sends the requests of the reference. If the reader edits a request in one language, the samples in other languages
 * change with it. The reference cannot send requests with form fields and files; the form can.
 */

import { completed, create, languageOf, makeReply, onDraw, PASSING, renew } from './figures.js';
import { askKey, getKey } from './key.js';
import { toRequest } from './requests.js';

/** Returns the reason why the page cannot send this request; undefined if it can. */
function whyNot(request) {
  if (!request) return 'Files and form fields are sent by the form.';
  if (!URL.canParse(request.url)) return 'The URL is not complete.';
  if (new URL(request.url).origin !== location.origin) return 'This page sends to its own server only.';
  if (request.headers.some(([name]) => /^cookie$/i.test(name))) return 'A page cannot set cookies.';
  return undefined;
}

async function fetchReply({ url, ...request }) {
  const start = performance.now();
  const reply = await fetch(url, { ...request, redirect: 'manual' });
  const blob = await reply.blob();
  const milliseconds = Math.round(performance.now() - start);
  const { status, statusText, headers } = reply;
  return { status, statusText, headers: [...headers], milliseconds, blob, text: await blob.text() };
}

async function send(figure) {
  const output = figure.querySelector('output');
  const command = completed(figure.querySelector('pre'));
  const request = toRequest(command);
  if (figure.ariaBusy === 'true' || whyNot(request)) return;
  if (!getKey() && command.includes('<API_KEY>')) return askKey();
  figure.ariaBusy = 'true';
  output.textContent = 'Sending …';
  let reply;
  try {
    reply = await fetchReply(request);
  } catch (error) {
    output.textContent = `No reply: ${error.message}. Send it again: its Idempotency-Key, if it has one, is still the same.`;
  }
  figure.ariaBusy = null;
  if (figure.nextElementSibling?.matches('.reply')) figure.nextElementSibling.remove();
  if (!reply) return;
  figure.after(makeReply(reply));
  output.textContent = `${reply.status} after ${reply.milliseconds} ms`;
  if (!PASSING.includes(reply.status)) renew();
}

function addSend(figure) {
  const press = create('button', {
    type: 'button',
    className: 'primary',
    textContent: 'Send',
    onclick: () => send(figure),
  });
  figure.append(create('div', { className: 'send' }, press, create('output')));
  figure.querySelector('pre').addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    send(figure);
  });
}

onDraw((figure, pre) => {
  if (!figure.querySelector('.send')) addSend(figure);
  const isEditable = languageOf(figure) === 'curl';
  pre.contentEditable = isEditable ? 'plaintext-only' : 'inherit';
  pre.role = isEditable ? 'textbox' : null;
  pre.ariaMultiLine = isEditable ? 'true' : null;
  pre.ariaLabel = isEditable ? 'Request, which can be edited' : null;
  const reason = whyNot(toRequest(completed(pre)));
  const output = figure.querySelector('output');
  figure.querySelector('.send button').disabled = Boolean(reason);
  if (reason || !figure.nextElementSibling?.matches('.reply'))
    output.textContent = reason ?? (completed(pre).includes('<API_KEY>') ? 'Asks for your key first.' : '');
});
