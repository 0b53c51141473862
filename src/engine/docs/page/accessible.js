/** What Swagger UI leaves without a name, or out of the keyboard's reach (WCAG 2.2, 1.3.1 and 2.1.1). */
const NAMES = {
  '#servers': () => 'Server',
  '.scheme-container': () => 'Server and key',
  '.examples-select-element': () => 'Example',
  'select.content-type': () => 'Media type',
  '.body-param__text': () => 'Body',
  '.parameters select': (element) => element.closest('tr').dataset.paramName,
  '.responses-table[role=region]': (element) =>
    `Replies of ${element.closest('.opblock').id.replace(/^operations-/, '')}`,
};
/** Else they stand in no landmark. */
const ROLES = { '.information-container': 'banner', '.scheme-container': 'region' };
const SCROLLED = '.microlight';

function mend() {
  for (const [selector, toName] of Object.entries(NAMES)) {
    for (const element of document.querySelectorAll(`${selector}:not([aria-label])`))
      element.ariaLabel = toName(element);
  }
  for (const [selector, role] of Object.entries(ROLES)) {
    for (const element of document.querySelectorAll(selector)) element.role = role;
  }
  for (const element of document.querySelectorAll(`${SCROLLED}:not([tabindex])`)) element.tabIndex = 0;
}

new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });

export default {
  wrapComponents: {
    /** It is inside of a button, which does what it does. */
    DeepLink(Original, { React: { createElement } }) {
      return (props) => createElement(Original, { ...props, enabled: false });
    },
  },
};
