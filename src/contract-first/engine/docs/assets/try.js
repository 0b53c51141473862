/**
 * Starts Swagger UI as a form: the page to read explains the rest. Keeps it exact, which would round integers above 2^53 in the contract and in
 * replies, and drop the space after a comma in headers. Adds names, and the key's box.
 */
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

/** Names for elements that Swagger UI leaves without one (WCAG 2.2, 1.3.1). A button's name begins with its text (2.5.3). */
const NAMES = {
  '.scheme-container:not([aria-label])': () => 'Key',
  '.examples-select-element:not([aria-label])': () => 'Example',
  'select.content-type:not([aria-label])': () => 'Media type',
  '.body-param__text:not([aria-label])': () => 'Body',
  '.close-modal:not([aria-label])': () => 'Leave the dialog',
  '.parameters select:not([aria-label])': (element) => element.closest('tr').dataset.paramName,
  '.modal-btn[aria-label]:not([aria-label*=": "])': ({ ariaLabel, textContent }) => `${textContent}: ${ariaLabel}`,
};

function addNames() {
  for (const [selector, toName] of Object.entries(NAMES)) {
    for (const element of document.querySelectorAll(selector)) element.ariaLabel = toName(element);
  }
  for (const element of document.querySelectorAll('.scheme-container')) element.role = 'region';
  for (const element of document.querySelectorAll('.microlight')) element.tabIndex = 0;
}

new MutationObserver(addNames).observe(document.body, { childList: true, subtree: true });

const MARK = '\u0000bigint:';

/** Swagger UI's resolver of references refuses bigint, so it gets marked strings. */
const toMarked = (value) => (typeof value === 'bigint' ? `${MARK}${value}` : value);
const toBigInt = (value) => (String(value).startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value);

/** A copy of the document, with `change` applied to each of its values. */
function copy(node, change) {
  if (Array.isArray(node)) return node.map((item) => copy(item, change));
  if (typeof node !== 'object' || node === null) return change(node);
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, copy(value, change)]));
}

/** A reviver for JSON.parse. Browsers pass the source text of a number since 2025; older ones round it. */
function keepInteger(_name, value, context) {
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value);
  return isRounded && /^-?\d+$/.test(context?.source) ? BigInt(context.source) : value;
}

BigInt.prototype.toJSON = function toJSON() {
  return JSON.rawJSON(this.toString());
};

/** Indents JSON, each number as it came; other text, and all of it in older browsers, stays as it is. */
function indent(text) {
  try {
    const keep = (_name, value, { source }) => (typeof value === 'number' ? JSON.rawJSON(source) : value);
    return JSON.stringify(JSON.parse(text, keep), null, 2);
  } catch {
    return text;
  }
}

/** The page's policy lets it call only the server that it came from: this one, or at least one with its path. */
function withThisServer({ servers = [{ url: '/' }], ...document }) {
  const [here = servers[0]] = servers.filter(({ url }) => !/^([a-z][a-z0-9+.-]*:)?\/\//i.test(url));
  const filled = here.url.replace(/\{([^{}]*)\}/g, (_, name) => here.variables?.[name]?.default ?? '');
  return { ...document, servers: [{ url: new URL(filled, new URL('../../openapi.json', import.meta.url)).pathname }] };
}

/** Where Swagger UI stores keys, in the storage of this origin, while `persistAuthorization` is true. */
const STORED = 'authorized';

const form = {
  afterLoad() {
    const { resolveSubtree } = this.fn;
    this.fn.resolveSubtree = async (document, ...rest) => {
      const { spec, ...others } = await resolveSubtree(copy(document, toMarked), ...rest);
      return { spec: copy(spec, toBigInt), ...others };
    };
  },
  statePlugins: {
    spec: {
      wrapActions: {
        parseToJson(_original, { specActions }) {
          return (text) => specActions.updateJsonSpec(withThisServer(JSON.parse(text, keepInteger)));
        },
      },
    },
    auth: {
      wrapActions: {
        /** Logging out forgets the key. */
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
    responseBody(Original, { React: { createElement }, getComponent }) {
      return (props) => {
        const { content, contentType } = props;
        if (typeof content !== 'string' || !/json/i.test(contentType)) return createElement(Original, props);
        const options = { language: 'json', downloadable: true, fileName: 'reply.json', canCopy: true };
        const code = createElement(getComponent('HighlightCode', true), options, indent(content));
        return createElement('div', null, createElement('h5', null, 'Response body'), code);
      };
    },
    liveResponse(Original, { React: { createElement } }) {
      return (props) => {
        const headers = props.response.get('headers').map((value) => value.join?.(', ') ?? value);
        return createElement(Original, { ...props, response: props.response.set('headers', headers) });
      };
    },
    /** In a dialog of the browser, which gives the focus back at the end. Tab goes from its last element to its first. */
    authorizationPopup(Original, { React: { createElement } }) {
      let dialog;
      function ref(element) {
        if (element) element.showModal();
        else dialog.close();
        dialog = element;
      }
      function onKeyDown(event) {
        const targets = [...dialog.querySelectorAll('a[href], button, input')];
        if (!event.shiftKey) targets.reverse();
        if (event.key !== 'Tab' || document.activeElement !== targets[0]) return;
        event.preventDefault();
        targets.at(-1).focus();
      }
      const options = { ref, onKeyDown, role: 'dialog', 'aria-label': 'API key' };
      return (props) => createElement('dialog', options, createElement(Original, props));
    },
    /** With a checkbox, off by default: remember the key in this browser. */
    AuthItem(Original, { React: { createElement, Fragment }, getConfigs, authActions }) {
      function onChange({ target }) {
        getConfigs().persistAuthorization = target.checked;
        if (target.checked) authActions.persistAuthorizationIfNeeded();
        else localStorage.removeItem(STORED);
      }
      return (props) => {
        const defaultChecked = getConfigs().persistAuthorization;
        const box = createElement('input', { type: 'checkbox', defaultChecked, onChange });
        const label = createElement('label', null, box, ' Remember the key in this browser');
        return createElement(Fragment, null, createElement(Original, props), label);
      };
    },
  },
};

SwaggerUIBundle({
  url: new URL('../../openapi.json', import.meta.url).href,
  dom_id: '#swagger-ui',
  deepLinking: true,
  displayOperationId: true,
  tryItOutEnabled: true,
  showCommonExtensions: true,
  defaultModelsExpandDepth: -1,
  persistAuthorization: localStorage.getItem(STORED) !== null,
  plugins: [form],
});
