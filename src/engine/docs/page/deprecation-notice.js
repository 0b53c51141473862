/** Shows at every deprecated operation, folded or not, what is known: since when, when it will be removed, what to use. */
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
