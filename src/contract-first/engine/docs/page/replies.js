/** Folds error replies, and explains headers that many replies share once, above the operations. */
export default {
  wrapComponents: {
    response(Original, { React: { createElement, Fragment, useState } }) {
      return (props) => {
        const [isOpen, setOpen] = useState(/^[123]/.test(props.code));
        const toggle = createElement(
          'button',
          { type: 'button', className: 'reply-toggle', 'aria-expanded': isOpen, onClick: () => setOpen(!isOpen) },
          `${props.code} ${isOpen ? '' : (props.response.get('description') ?? '').split('\n', 1)[0].replaceAll('`', '')}`,
        );
        const row = createElement('tr', { className: 'reply-fold' }, createElement('td', { colSpan: 3 }, toggle));
        return createElement(Fragment, null, row, isOpen && createElement(Original, props));
      };
    },

    headers(Original, { React: { createElement, Fragment }, specSelectors }) {
      return (props) => {
        const shared = specSelectors.specJson().getIn(['components', 'headers']);
        const isShared = (_header, name) => shared?.has(name);
        const own = props.headers.filterNot(isShared);
        const names = [...props.headers.filter(isShared).keys()].join(', ');
        return createElement(
          Fragment,
          null,
          own.size > 0 && createElement(Original, { ...props, headers: own }),
          names && createElement('p', { className: 'shared-headers' }, 'Headers explained above: ', names),
        );
      };
    },

    InfoContainer(Original, { React: { createElement, Fragment }, specSelectors, getComponent }) {
      const Markdown = getComponent('Markdown', true);
      return (props) => {
        const shared = specSelectors.specJson().getIn(['components', 'headers'])?.toJS() ?? {};
        const terms = Object.entries(shared).map(([name, { description }]) =>
          createElement(
            Fragment,
            { key: name },
            createElement('dt', null, name),
            createElement('dd', null, createElement(Markdown, { source: description })),
          ),
        );
        const title = createElement('summary', null, 'Headers of replies');
        return createElement(
          Fragment,
          null,
          createElement(Original, props),
          terms.length > 0 &&
            createElement('details', { className: 'wrapper' }, title, createElement('dl', null, terms)),
        );
      };
    },
  },
};
