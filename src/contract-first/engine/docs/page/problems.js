/** Shows the `problems` of an error at the fields of the request. */
function toProblems(response) {
  try {
    return JSON.parse(response.get('text')).problems ?? [];
  } catch {
    return [];
  }
}

/** Adds to a component the problems of its part of the request. */
const withProblems =
  (toPlace, toRow) =>
  (Original, { React, specSelectors, getStore }) => {
    const { createElement, Fragment, useSyncExternalStore } = React;
    const { subscribe } = getStore();
    return (props) => {
      const { path, method, isOwn } = toPlace(props);
      const response = useSyncExternalStore(subscribe, () => specSelectors.responseFor(path, method));
      const own = toProblems(response).filter(isOwn);
      const texts = own.map(({ message }) => createElement('p', { key: message, className: 'problem' }, message));
      return createElement(
        Fragment,
        null,
        createElement(Original, props),
        own.length > 0 && toRow(createElement, texts),
      );
    };
  };

export default {
  wrapComponents: {
    parameterRow: withProblems(
      ({ pathMethod: [path, method], rawParam }) => ({
        path,
        method,
        isOwn: (problem) => problem.in === rawParam.get('in') && problem.place === rawParam.get('name'),
      }),
      (createElement, texts) => createElement('tr', null, createElement('td', { colSpan: 2 }, texts)),
    ),
    RequestBody: withProblems(
      ({ specPath }) => ({ path: specPath.get(1), method: specPath.get(2), isOwn: (problem) => problem.in === 'body' }),
      (createElement, texts) => createElement('div', null, texts),
    ),
  },
};
