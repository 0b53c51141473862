/** Keeps Swagger UI exact: it would round integers above 2^53 in the contract and in replies, and drop the space after a comma in headers. */
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

const TOKEN = /"(?:[^"\\]|\\.)*"|[^\s{}[\],:"]+|[{}[\],:]/g;

/** Indents JSON text by changing only white space. */
function indent(json) {
  let text = '';
  let depth = 0;
  let previous = '';
  for (const token of json.match(TOKEN)) {
    const isFirst = previous === '{' || previous === '[';
    const isEnd = token === '}' || token === ']';
    if (isEnd) depth--;
    if (previous === ',' || isFirst !== isEnd) text += `\n${'  '.repeat(depth)}`;
    text += token === ':' ? ': ' : token;
    if (token === '{' || token === '[') depth++;
    previous = token;
  }
  return text;
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The page's policy lets it call only the server that it came from: this one, or at least one with its path. */
function withThisServer({ servers = [{ url: '/' }], ...document }) {
  const [here = servers[0]] = servers.filter(({ url }) => !/^([a-z][a-z0-9+.-]*:)?\/\//i.test(url));
  const filled = here.url.replace(/\{([^{}]*)\}/g, (_, name) => here.variables?.[name]?.default ?? '');
  return { ...document, servers: [{ url: new URL(filled, new URL('../../openapi.json', import.meta.url)).pathname }] };
}

export default {
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
  },
  wrapComponents: {
    responseBody(Original, { React: { createElement }, getComponent }) {
      return (props) => {
        if (!isJson(props.content)) return createElement(Original, props);
        const options = { language: 'json', downloadable: true, fileName: 'reply.json', canCopy: true };
        const code = createElement(getComponent('HighlightCode', true), options, indent(props.content));
        return createElement('div', null, createElement('h5', null, 'Response body'), code);
      };
    },
    liveResponse(Original, { React: { createElement } }) {
      return (props) => {
        const headers = props.response.get('headers').map((value) => value.join?.(', ') ?? value);
        return createElement(Original, { ...props, response: props.response.set('headers', headers) });
      };
    },
  },
};
