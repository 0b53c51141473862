/** Fits the page to a phone's width, and follows whether the person prefers dark pages, also when that changes. */
(() => {
  const viewport = Object.assign(document.createElement('meta'), {
    name: 'viewport',
    content: 'width=device-width, initial-scale=1',
  });
  document.head.append(viewport);

  const dark = matchMedia('(prefers-color-scheme: dark)');
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', follow);
  follow();
})();
