/** Adds a checkbox to the Authorize dialog, off by default: remember the key in this browser. Logging out forgets it. */
/** Where Swagger UI stores keys, in the storage of this origin, while `persistAuthorization` is true. */
const STORED = 'authorized';

export default {
  statePlugins: {
    configs: {
      wrapActions: {
        loaded(original, { getConfigs }) {
          return () => {
            getConfigs().persistAuthorization = localStorage.getItem(STORED) !== null;
            return original();
          };
        },
      },
    },
    auth: {
      wrapActions: {
        persistAuthorizationIfNeeded(original, { authSelectors }) {
          return () => {
            original();
            if (authSelectors.authorized().isEmpty()) localStorage.removeItem(STORED);
          };
        },
      },
    },
  },
  wrapComponents: {
    AuthItem(Original, { React: { createElement, Fragment }, getConfigs, authActions }) {
      function onChange({ target }) {
        getConfigs().persistAuthorization = target.checked;
        if (target.checked) authActions.persistAuthorizationIfNeeded();
        else localStorage.removeItem(STORED);
      }
      return (props) => {
        const defaultChecked = getConfigs().persistAuthorization;
        const box = createElement('input', { type: 'checkbox', defaultChecked, onChange });
        const label = createElement('label', { className: 'remember-key' }, box, 'Remember the key in this browser');
        return createElement(Fragment, null, createElement(Original, props), label);
      };
    },
  },
};
