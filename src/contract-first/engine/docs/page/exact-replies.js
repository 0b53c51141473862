/**
 * Shows a reply as it was sent. Swagger UI would round integers above 2^53 in the body, and drop the space after a comma in headers.
 */
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

export default {
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
