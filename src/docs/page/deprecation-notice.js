/** Shows at every deprecated operation, folded or not, since when it is deprecated, when it will be removed, and what to use. */
(() => {
  function describe(operation) {
    const [since, sunset, successor] = ['x-deprecated-at', 'x-sunset', 'x-successor'].map((name) =>
      operation.get(name),
    );
    return `Deprecated since ${since}, to be removed on ${sunset}, use ${successor}`;
  }

  SwaggerUIStandalonePreset.push({
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
  });
})();
