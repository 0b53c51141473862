/** Starts Swagger UI as a form: the page to read explains the rest. Adds names, access by keyboard, and the key's box. */
import exact from './exact.js';

/** Dark or light, as the reader prefers, also when that changes. */
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

/** Names for elements that Swagger UI leaves without one, and their places in the page (WCAG 2.2, 1.3.1 and 2.1.1). */
const DIALOG = '.dialog-ux .modal-ux';
const NAMES = {
  '.scheme-container': () => 'Key',
  '.examples-select-element': () => 'Example',
  'select.content-type': () => 'Media type',
  '.body-param__text': () => 'Body',
  [DIALOG]: () => 'API key',
  '.close-modal': () => 'Leave the dialog',
  '.parameters select': (element) => element.closest('tr').dataset.paramName,
};
const ROLES = { '.scheme-container': 'region', [DIALOG]: 'dialog' };

function addNames() {
  for (const [selector, toName] of Object.entries(NAMES)) {
    for (const element of document.querySelectorAll(`${selector}:not([aria-label])`))
      element.ariaLabel = toName(element);
  }
  for (const [selector, role] of Object.entries(ROLES)) {
    for (const element of document.querySelectorAll(selector)) element.role = role;
  }
  followDialog();
  for (const element of document.querySelectorAll('.microlight:not([tabindex])')) element.tabIndex = 0;
}

/** The element outside of the dialog that had the focus last. */
let opener;
let isOpen = false;

document.addEventListener('focusin', ({ target }) => {
  if (!target.closest(DIALOG)) opener = target;
});

/** Keeps the focus in the open dialog, and gives it back at the end. A button's name begins with its text (WCAG 2.2, 2.5.3). */
function followDialog() {
  const dialog = document.querySelector(DIALOG);
  for (const button of dialog?.querySelectorAll('.modal-btn[aria-label]') ?? []) {
    if (!button.ariaLabel.includes(button.textContent)) button.ariaLabel = `${button.textContent}: ${button.ariaLabel}`;
  }
  if (dialog && !isOpen) {
    dialog.ariaModal = 'true';
    if (!dialog.contains(document.activeElement)) dialog.querySelector('input, button').focus();
  }
  if (!dialog && isOpen) (opener?.isConnected ? opener : document.querySelector('.btn.authorize'))?.focus();
  isOpen = Boolean(dialog);
}

/** Tab does not leave the dialog. */
document.addEventListener('keydown', (event) => {
  const dialog = document.querySelector(DIALOG);
  if (event.key !== 'Tab' || !dialog) return;
  const places = [...dialog.querySelectorAll('a[href], button, input')];
  const [from, to] = event.shiftKey ? [places[0], places.at(-1)] : [places.at(-1), places[0]];
  if (document.activeElement !== from && dialog.contains(document.activeElement)) return;
  event.preventDefault();
  to.focus();
});

new MutationObserver(addNames).observe(document.body, { childList: true, subtree: true });

const form = {
  wrapComponents: {
    /** No link: it would be inside of a button that does the same. */
    DeepLink(Original, { React: { createElement } }) {
      return (props) => createElement(Original, { ...props, enabled: false });
    },
    execute(Original, { React: { createElement, Fragment } }) {
      return (props) => {
        const href = `../docs#${props.operation.get('operationId')}`;
        const back = createElement('a', { className: 'reference', href }, 'Read about it');
        return createElement(Fragment, null, createElement(Original, props), back);
      };
    },
  },
};

/** Where Swagger UI stores keys, in the storage of this origin, while `persistAuthorization` is true. */
const STORED = 'authorized';

/** A checkbox in the Authorize dialog, off by default: remember the key in this browser. Logging out forgets it. */
const rememberKey = {
  statePlugins: {
    configs: {
      wrapActions: {
        loaded(original, { getConfigs }) {
          return () => {
            getConfigs().persistAuthorization = localStorage.getItem(STORED) !== null;
            return original();
          };
        },
      },
    },
    auth: {
      wrapActions: {
        persistAuthorizationIfNeeded(original, { authSelectors }) {
          return () => {
            original();
            if (authSelectors.authorized().isEmpty()) localStorage.removeItem(STORED);
          };
        },
      },
    },
  },
  wrapComponents: {
    AuthItem(Original, { React: { createElement, Fragment }, getConfigs, authActions }) {
      function onChange({ target }) {
        getConfigs().persistAuthorization = target.checked;
        if (target.checked) authActions.persistAuthorizationIfNeeded();
        else localStorage.removeItem(STORED);
      }
      return (props) => {
        const defaultChecked = getConfigs().persistAuthorization;
        const box = createElement('input', { type: 'checkbox', defaultChecked, onChange });
        const label = createElement('label', { className: 'remember-key' }, box, 'Remember the key in this browser');
        return createElement(Fragment, null, createElement(Original, props), label);
      };
    },
  },
};

SwaggerUIBundle({
  url: new URL('../../openapi.json', import.meta.url).href,
  dom_id: '#swagger-ui',
  layout: 'BaseLayout',
  deepLinking: true,
  displayOperationId: true,
  tryItOutEnabled: true,
  showExtensions: false,
  showCommonExtensions: true,
  defaultModelsExpandDepth: -1,
  validatorUrl: null,
  plugins: [exact, form, rememberKey],
});
