/**
 * Starts Swagger UI as a form that looks like the reference. Requests and replies are shown as in the reference.
 * Integers above 2^53 in the contract stay exact, although Swagger UI itself would round them.
 */
import { links, searchIn, setCurrent } from './contents.js';
import { create, makeReply, makeRequest, PASSING, startFigures, watchFigures } from './figures.js';
import { contractUrl, getKey, onKey } from './key.js';
import { makeUuid, writeCurl } from './requests.js';

document.documentElement.classList.add('script');

/** The reference page. The form takes texts and samples from this page. */
const loading = fetch('../docs')
  .then((reply) => reply.text())
  .then((text) => new DOMParser().parseFromString(text, 'text/html'));
loading.then(startFigures);
searchIn(() => loading);

const MARK = '\u0000bigint:';

/**
 * Converts bigints to strings with a mark in front, because Swagger UI's code for resolving references does not accept
 * bigints.
 */
const toMarked = (value) => (typeof value === 'bigint' ? `${MARK}${value}` : value);
const toBigInt = (value) => (String(value).startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value);

/** Copies a document, with `change` applied to each value in it. */
function copy(node, change) {
  if (Array.isArray(node)) return node.map((item) => copy(item, change));
  if (typeof node !== 'object' || node === null) return change(node);
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, copy(value, change)]));
}

/**
 * A reviver for JSON.parse that keeps large integers exact. Browsers pass the source text of a number since 2025; older
 * ones round it.
 */
function keepInteger(_name, value, context) {
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value);
  return isRounded && /^-?\d+$/.test(context?.source) ? BigInt(context.source) : value;
}

BigInt.prototype.toJSON = function toJSON() {
  return JSON.rawJSON(this.toString());
};

/**
 * Adapts the contract to the form. The content security policy only allows calls to the server that sent the page, so
 * the document lists only this server, with the path of the contract's first relative server URL, or else of its first
 * server. Tokens of OAuth 2 and OpenID Connect are entered in the same way as a key.
 */
function adapt({ servers = [{ url: '/' }], ...document }) {
  const [here = servers[0]] = servers.filter(({ url }) => !/^([a-z][a-z0-9+.-]*:)?\/\//i.test(url));
  const filled = here.url.replace(/\{([^{}]*)\}/g, (_, name) => here.variables?.[name]?.default ?? '');
  const schemes = document.components?.securitySchemes ?? {};
  for (const [name, { type }] of Object.entries(schemes))
    if (/^(oauth2|openIdConnect)$/.test(type)) schemes[name] = { type: 'http', scheme: 'bearer' };
  return { ...document, servers: [{ url: new URL(filled, contractUrl).pathname }] };
}

/**
 * The Idempotency-Keys that the form offers, by path and method. After a reply, the form replaces the offered key by a
 * new one, unless the reader has edited the field.
 */
const offered = new Map();
const isOnce = (parameter) => parameter.get('in') === 'header' && /^idempotency-key$/i.test(parameter.get('name'));

function offerOnce(row) {
  const { rawParam, pathMethod, onChange } = row.props;
  const value = makeUuid();
  offered.set(pathMethod.join(''), { row, value });
  onChange(rawParam, value, false);
}

/**
 * The id of the operation to scroll to when it has been opened. The id is set only if the reader has followed a link to
 * this operation.
 */
let wanted;

function showSamples(place, id) {
  loading.then((page) => {
    if (place.childElementCount > 0) return;
    const samples = page.getElementById(id)?.querySelector('.samples').cloneNode(true);
    place.replaceChildren(...(samples?.childNodes ?? []));
    for (const link of place.querySelectorAll('figcaption a')) link.remove();
    watchFigures(place);
  });
}

function showReply(place, request, response) {
  const headers = Object.entries(response.headers).map(([name, value]) => [name, [value].flat().join(', ')]);
  const { status, statusText = '', text, message, milliseconds } = response;
  const body = text instanceof Blob ? { blob: text } : { text };
  const error = create('p', { role: 'alert', textContent: `No reply: ${message}` });
  const reply = status ? makeReply({ status, statusText, headers, milliseconds, ...body }) : error;
  place.replaceChildren(makeRequest(writeCurl(request, getKey())), reply);
  watchFigures(place);
}

/**
 * Returns the operationId in the contract. Swagger UI's own ids contain other characters in place of hyphens, so they
 * cannot be used.
 */
const idOf = ({ specSelectors, path, method }) =>
  specSelectors.specJson().getIn(['paths', path, method, 'operationId']);

/**
 * Shows the samples from the reference. After the reader has sent a request, shows that request and its reply instead
 * of the samples.
 */
function buildResponses(_original, { React }) {
  const { createElement, useEffect, useRef } = React;
  return ({ request, tryItOutResponse: response, ...props }) => {
    const place = useRef();
    const id = idOf(props);
    useEffect(() => {
      if (response) showReply(place.current, request.toJS(), response.toJS());
      else {
        place.current.replaceChildren();
        showSamples(place.current, id);
      }
      const offer = offered.get(props.path + props.method);
      const isFinal = response?.get('status') && !PASSING.includes(response.get('status'));
      if (offer && isFinal && offer.row.props.param.get('value') === offer.value) offerOnce(offer.row);
      // The effect depends on the object of the headers, because Swagger UI makes a new response object for each
      // rendering, but keeps the same headers object.
    }, [response?.get('headers')]);
    useEffect(() => {
      if (wanted === id) place.current.closest('.opblock').scrollIntoView();
      wanted = undefined;
    }, []);
    return createElement('div', { ref: place, className: 'samples', role: 'group', 'aria-label': 'Samples and reply' });
  };
}

/** The plugin that keeps every digit of the contract's integers. */
const exact = {
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
          return (text) => specActions.updateJsonSpec(adapt(JSON.parse(text, keepInteger)));
        },
        /** Removes the previous reply if a field turns out to be invalid. */
        clearValidateParams(original, { specActions }) {
          return (place) => {
            specActions.clearResponse(...place);
            return original(place);
          };
        },
      },
    },
    /** Turns off Swagger UI's scrolling, which would scroll to an operation before it is open. */
    layout: {
      wrapActions: { scrollTo: () => () => ({ type: 'none' }), readyToScroll: () => () => ({ type: 'none' }) },
    },
  },
};

const HIDDEN = ['authorizeOperationBtn', 'TryItOutButton', 'OperationServers', 'CopyToClipboardBtn', 'OperationExt'];

/** Components that replace those of Swagger UI, so that the form looks and behaves like the reference. */
const look = ({ React: { createElement } }) => ({
  components: {
    /** Shows only the operations. */
    FormLayout({ getComponent, specSelectors }) {
      if (specSelectors.loadingStatus() === 'failed') return createElement('p', null, 'The contract cannot be loaded.');
      return createElement(getComponent('operations', true));
    },
  },
  wrapComponents: {
    ...Object.fromEntries(HIDDEN.map((name) => [name, () => () => null])),
    responses: buildResponses,
    /** Omits the link of an operation, because it would be inside a button that does the same. */
    DeepLink: (Original) => (props) => createElement(Original, { ...props, enabled: false }),
    /** Shows paragraphs and code. Text of the contract never becomes HTML. */
    Markdown() {
      const toCode = (part, index) => (index % 2 ? createElement('code', { key: index }, part) : part);
      const toParagraph = (text, index) => createElement('p', { key: index }, text.split('`').map(toCode));
      return ({ source }) =>
        createElement(
          'div',
          null,
          String(source ?? '')
            .trim()
            .split(/\n\s*\n/)
            .map(toParagraph),
        );
    },
    execute: (Original) => buildExecute(Original, createElement),
    parameterRow: (Original) =>
      class extends Original {
        componentDidMount() {
          if (isOnce(this.props.rawParam)) offerOnce(this);
        }
      },
  },
});

/** Replaces the button Execute. The new button stays enabled while a request is sent, so that it keeps the focus. */
const buildExecute = (Original, createElement) =>
  class extends Original {
    render() {
      const onClick = () => this.props.disabled || this.onClick();
      return [
        createElement('button', { key: 'send', className: 'primary execute', onClick }, 'Send'),
        createElement(
          'a',
          { key: 'read', className: 'reference', href: `../docs#${idOf(this.props)}` },
          'Read about it',
        ),
      ];
    }
  };

/** Names for elements that Swagger UI does not name (WCAG 2.2, 1.3.1), by their selectors. */
const NAMES = {
  '.examples-select-element:not([aria-label])': () => 'Example',
  'select.content-type:not([aria-label])': () => 'Media type',
  '.body-param__text:not([aria-label])': () => 'Body',
  '.parameters :is(select, input):not([aria-label])': (element) => element.closest('tr').dataset.paramName,
};

/** Adds types and limits to the row of a parameter, in the words of the reference. */
async function addWords(row) {
  if (row.querySelector('.type')) return;
  const type = create('div', { className: 'type' });
  row.querySelector('.parameters-col_name').append(type);
  const id = decodeURIComponent(row.closest('.opblock').querySelector('.reference').hash.slice(1));
  const term = (await loading).getElementById(`${id}.${row.dataset.paramName}`)?.cloneNode(true);
  term?.querySelector('a').remove();
  for (const one of term?.childNodes ?? []) type.append(one.cloneNode(true));
}

function addNames() {
  for (const [selector, toName] of Object.entries(NAMES))
    for (const element of document.querySelectorAll(selector)) element.ariaLabel = toName(element);
  for (const row of document.querySelectorAll('tr[data-param-name]')) addWords(row);
}

new MutationObserver(addNames).observe(document.querySelector('#page-form'), { childList: true, subtree: true });

/**
 * Swagger UI would add an entry to the browser's history for each step of the reader, so its entries replace the
 * current one.
 */
history.pushState = history.replaceState;

/** Enters the reader's key for each security scheme. */
function authorize({ authActions, authSelectors, specSelectors }) {
  const schemes = specSelectors.specJson().getIn(['components', 'securitySchemes'])?.toJS() ?? {};
  const [key, known] = [getKey(), Object.keys(authSelectors.authorized()?.toJS() ?? {})];
  if (known.length > 0) authActions.logout(known);
  if (!key) return;
  const toValue = ({ scheme }) => (scheme === 'basic' ? { username: key, password: '' } : key);
  const entries = Object.entries(schemes).map(([name, schema]) => [name, { name, schema, value: toValue(schema) }]);
  authActions.authorize(Object.fromEntries(entries));
}

/** Opens the operation that the URL names, for example after a click on its entry in the contents. */
function open({ layoutActions }) {
  const hash = decodeURIComponent(location.hash);
  wanted = hash.split('/').at(-1);
  const link = links.find(({ dataset }) => dataset.section === wanted);
  setCurrent(link);
  layoutActions.parseDeepLinkHash(hash);
  const shown = document.querySelector(`.opblock[id$="-${CSS.escape(wanted)}"]:has(.opblock-body)`);
  shown?.scrollIntoView();
}

function addLinks({ specSelectors }) {
  for (const [tag, details] of specSelectors.taggedOperations().entries())
    for (const operation of details.get('operations')) {
      const id = operation.getIn(['operation', 'operationId']);
      const link = links.find(({ hash }) => hash === `#${id}`);
      if (!link) continue;
      link.dataset.section = id;
      link.href = `#/${encodeURIComponent(tag)}/${id}`;
    }
}

let started;
const ui = SwaggerUIBundle({
  url: contractUrl.href,
  dom_id: '#page-form',
  layout: 'FormLayout',
  deepLinking: true,
  displayOperationId: true,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: -1,
  plugins: [exact, look],
  requestInterceptor(request) {
    started = performance.now();
    return request;
  },
  responseInterceptor(response) {
    return Object.assign(response, { milliseconds: Math.round(performance.now() - started) });
  },
  onComplete() {
    const system = ui.getSystem();
    addLinks(system);
    onKey(() => authorize(system));
    open(system);
    addEventListener('hashchange', () => open(system));
  },
});
