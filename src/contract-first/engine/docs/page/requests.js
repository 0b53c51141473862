import { copy } from './copy.js';

/** Shows the form's request as code to copy, with the chosen server and the key. */
const LANGUAGES = {
  curl: ({ method, url, headers, body }) => {
    const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
    const lines = headers.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
    return ['curl -i', `-X ${method}`, ...lines, ...(body ? [`--data-raw ${quote(body)}`] : []), quote(url)].join(
      ' \\\n  ',
    );
  },

  JavaScript: ({ method, url, headers, body }) => `const reply = await fetch(${quote(url)}, {
  method: ${quote(method)},
  headers: {${headers.map(([name, value]) => `\n    ${quote(name)}: ${quote(value)},`).join('')}
  },${body ? `\n  body: ${quote(body)},` : ''}
});
console.log(reply.status, await reply.text());`,

  Python: ({ method, url, headers, body }) => `from urllib.error import HTTPError
from urllib.request import Request, urlopen

request = Request(
    ${quote(url)},
    method=${quote(method)},
    headers={${headers.map(([name, value]) => `\n        ${quote(name)}: ${quote(value)},`).join('')}
    },${body ? `\n    data=${quote(body)}.encode(),` : ''}
)
try:
    reply = urlopen(request)
except HTTPError as error:
    reply = error
print(reply.status, reply.read().decode())`,

  Go: ({ method, url, headers, body }) => `package main

import (
\t"fmt"
\t"io"
\t"net/http"
\t"strings"
)

func main() {
\trequest, err := http.NewRequest(${quote(method)}, ${quote(url)}, strings.NewReader(${quote(body ?? '')}))
\tif err != nil {
\t\tpanic(err)
\t}${headers.map(([name, value]) => `\n\trequest.Header.Set(${quote(name)}, ${quote(value)})`).join('')}
\treply, err := http.DefaultClient.Do(request)
\tif err != nil {
\t\tpanic(err)
\t}
\tdefer reply.Body.Close()
\tbody, err := io.ReadAll(reply.Body)
\tif err != nil {
\t\tpanic(err)
\t}
\tfmt.Println(reply.StatusCode, string(body))
}`,
};

/** A JSON string is also a string literal in JavaScript, Python and Go. */
const quote = (text) => JSON.stringify(text);

/** The request that Execute would send. */
function toRequest({ specSelectors, authSelectors, oas3Selectors, fn }, { path, method, operation }) {
  const spec = specSelectors.specJsonWithResolvedSubtrees().toJS();
  const server = oas3Selectors.selectedServer(`${path} ${method}`) || oas3Selectors.selectedServer();
  const { url, headers, body } = fn.buildRequest({
    spec,
    pathName: path,
    method,
    operationId: fn.opId(operation.toJS(), path, method),
    parameters: specSelectors.parameterValues([path, method]).toJS(),
    securities: { authorized: authSelectors.authorized().toJS(), specSecurity: spec.security },
    server,
    serverVariables: oas3Selectors.serverVariables(server)?.toJS?.() ?? {},
    requestBody: oas3Selectors.requestBodyValue(path, method),
    requestContentType: oas3Selectors.requestContentType(path, method),
    attachContentTypeForEmptyPayload: false,
  });
  const sent = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  return { method: method.toUpperCase(), url: new URL(url, location.href).href, headers: sent, body };
}

export default {
  wrapComponents: {
    execute(Original, system) {
      const { createElement, Fragment, useState, useSyncExternalStore } = system.React;
      const { subscribe, getState } = system.getStore();

      function ToCopy(props) {
        useSyncExternalStore(subscribe, getState);
        const [language, setLanguage] = useState('curl');
        const text = LANGUAGES[language](toRequest(system, props));
        const options = Object.keys(LANGUAGES).map((name) => createElement('option', { key: name }, name));
        const onChange = ({ target }) => setLanguage(target.value);
        return createElement(
          'details',
          { className: 'request-to-copy' },
          createElement('summary', null, 'The request, to copy'),
          createElement('select', { 'aria-label': 'Language', value: language, onChange }, options),
          createElement(
            'button',
            { type: 'button', className: 'btn', onClick: ({ target }) => copy(text, target) },
            'Copy',
          ),
          createElement('pre', { tabIndex: 0 }, text),
        );
      }

      return (props) => createElement(Fragment, null, createElement(Original, props), createElement(ToCopy, props));
    },
  },
};
