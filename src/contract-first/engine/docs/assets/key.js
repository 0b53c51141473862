/** The URL of the contract, from a link that each page contains. */
export const contractUrl = new URL(document.querySelector('[rel=service-desc]').href);

/**
 * The browser stores the reader's key under this name, for both pages. Only scripts of this origin can read the stored
 * key, and the content security policy of the pages keeps text of a contract from running as a script. The pages never
 * show the key: samples contain a mask in its place.
 */
const NAME = `key ${contractUrl.pathname}`;

/**
 * The storage of the tab, and the storage of the browser. If the browser blocks them, the key is lost when the reader
 * leaves the page.
 */
const [tab, browser] = ['sessionStorage', 'localStorage'].map((name) => {
  try {
    return globalThis[name];
  } catch {
    return { getItem: () => null, setItem() {}, removeItem() {} };
  }
});
const inputs = [...document.querySelectorAll('input.key')];
const remember = document.querySelector('#page-key [type=checkbox]');
const opener = document.querySelector('[popovertarget="page-key"]');
/** An element with the words of the button's text that are hidden on narrow screens. */
const detail = document.createElement('span');
const channel = new BroadcastChannel(NAME);
const listeners = new Set();
let key = tab.getItem(NAME) ?? browser.getItem(NAME) ?? '';

export const getKey = () => key;

/**
 * Returns dots in place of the key, and its last characters if the key is long enough to stay secret. Returns an empty
 * text without a key.
 */
export const maskKey = () => (key ? `••••••••${key.length < 16 ? '' : key.slice(-4)}` : '');

/** Calls the listener now, and after each change of the key. */
export function onKey(listener) {
  listeners.add(listener);
  listener();
}

/** Opens the field for the reader's key. */
export const askKey = () => document.querySelector('#page-key').showPopover();

function change(value) {
  key = value;
  for (const input of inputs) if (input.value.trim() !== key) input.value = key;
  detail.textContent = key ? maskKey().slice(4) : 'API';
  opener?.replaceChildren(...(key ? ['Key ', detail] : ['Set ', detail, ' key']));
  opener?.classList.toggle('primary', !key);
  for (const listener of listeners) listener();
}

function store() {
  tab.setItem(NAME, key);
  if (remember.checked) browser.setItem(NAME, key);
  else browser.removeItem(NAME);
}

function forget() {
  for (const storage of [tab, browser]) storage.removeItem(NAME);
  if (remember) remember.checked = false;
  change('');
}

for (const input of inputs) {
  input.addEventListener('input', () => {
    change(input.value.trim());
    store();
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    // Without this, Enter would also press the button that gets the focus.
    event.preventDefault();
    input.closest('[popover]')?.hidePopover();
  });
}
if (remember) remember.checked = browser.getItem(NAME) !== null;
remember?.addEventListener('change', store);
document.querySelector('#page-key .forget')?.addEventListener('click', () => {
  forget();
  channel.postMessage('forget');
});
channel.addEventListener('message', forget);
for (const one of document.querySelectorAll('.with-key')) one.hidden = false;
change(key);
