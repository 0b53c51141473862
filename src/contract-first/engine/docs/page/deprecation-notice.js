/** Shows at each deprecated operation since when it is deprecated, when it will be removed, and what to use instead. */
function describe(operation) {
  const parts = [
    ['Deprecated since', 'x-deprecated-at'],
    ['to be removed on', 'x-sunset'],
    ['use', 'x-successor'],
  ].flatMap(([words, name]) => (operation.get(name) ? `${words} ${operation.get(name)}` : []));
  return parts.join(', ') || 'Deprecated';
}

export default {
  wrapComponents: {
    OperationSummary(Original, { React: { createElement, Fragment }, specSelectors }) {
      return (props) => {
        const operation = specSelectors.specJson().getIn(props.specPath);
        const summary = createElement(Original, props);
        if (!operation.get('deprecated')) return summary;
        const notice = createElement('p', { className: 'deprecation-notice' }, describe(operation));
        return createElement(Fragment, null, summary, notice);
      };
    },
  },
};
