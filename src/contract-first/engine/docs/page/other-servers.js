/** Replaces the Execute button for other servers: the page's security policy lets it call only its own. */
/** The origin of the chosen server, or undefined if it is this page's, as it is while a variable is empty. */
function foreignOrigin({ oas3Selectors }) {
  const url = oas3Selectors.serverEffectiveValue(oas3Selectors.selectedServer());
  const origin = URL.canParse(url, location.href) ? new URL(url, location.href).origin : url;
  return origin === location.origin ? undefined : origin;
}

export default {
  wrapComponents: {
    execute(Original, { React: { createElement, useSyncExternalStore }, ...system }) {
      const { subscribe } = system.getStore();
      return (props) => {
        const origin = useSyncExternalStore(subscribe, () => foreignOrigin(system));
        if (!origin) return createElement(Original, props);
        const note = `This page can only call the server that it came from. To call ${origin}, open its own page, ${origin}/docs.`;
        return createElement('p', { className: 'other-server' }, note);
      };
    },
  },
};
