/** Names for elements that Swagger UI leaves without one, and access by keyboard (WCAG 2.2, 1.3.1 and 2.1.1). */
const NAMES = {
  '#servers': () => 'Server',
  '.scheme-container': () => 'Server and key',
  '.examples-select-element': () => 'Example',
  'select.content-type': () => 'Media type',
  '.body-param__text': () => 'Body',
  '.dialog-ux .modal-ux': () => 'API key',
  '.close-modal': () => 'Leave the dialog',
  '.parameters select': (element) => element.closest('tr').dataset.paramName,
  '.responses-table[role=region]': (element) =>
    `Replies of ${element.closest('.opblock').id.replace(/^operations-/, '')}`,
};
/** Without a role, these elements would be in no landmark. */
const DIALOG = '.dialog-ux .modal-ux';
const ROLES = { '.information-container': 'banner', '.scheme-container': 'region', [DIALOG]: 'dialog' };
const SCROLLED = '.microlight';

function mend() {
  for (const [selector, toName] of Object.entries(NAMES)) {
    for (const element of document.querySelectorAll(`${selector}:not([aria-label])`))
      element.ariaLabel = toName(element);
  }
  for (const [selector, role] of Object.entries(ROLES)) {
    for (const element of document.querySelectorAll(selector)) element.role = role;
  }
  mendDialog();
  for (const element of document.querySelectorAll(`${SCROLLED}:not([tabindex])`)) element.tabIndex = 0;
}

/** The element outside of the dialog that had the focus last. */
let opener;
let isOpen = false;

document.addEventListener('focusin', ({ target }) => {
  if (!target.closest(DIALOG)) opener = target;
});

/** Keeps the focus in the open dialog, and gives it back at the end. A button's name begins with its text (WCAG 2.2, 2.5.3). */
function mendDialog() {
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

new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });

export default {
  wrapComponents: {
    /** No link: it would be inside of a button that does the same. */
    DeepLink(Original, { React: { createElement } }) {
      return (props) => createElement(Original, { ...props, enabled: false });
    },
  },
};
