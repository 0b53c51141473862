/**
 * A pattern takes time in proportion to its text, whatever the text: the server runs it over what anybody sends, and a text made for a
 * pattern that does not holds it up for seconds, or for ever.
 */
import { isLinear } from '../../../scripts/linear.ts';
import { OWN_HEADERS } from '../../../src/engine/replies/reply-headers.ts';

export default function linearPatterns() {
  return {
    Schema({ pattern, patternProperties = {} }, { location, report }) {
      if (isOwn(location.pointer)) return;
      const names = Object.keys(patternProperties).map((name) => [name, location.child(['patternProperties', name])]);
      const all = typeof pattern === 'string' ? [[pattern, location.child('pattern')], ...names] : names;
      for (const [source, place] of all) {
        const expression = toExpression(source);
        if (!expression || isLinear(expression)) continue;
        report({
          message: `The pattern ${source} is not known to take time in proportion to its text: no part may begin where another can go on.`,
          location: place,
        });
      }
    },
  };
}

/** Whether it is of a header that the server sends itself: no text of others meets it. */
function isOwn(pointer) {
  const [, name = ''] = /\/headers\/([^/]+)\/schema/.exec(pointer) ?? [];
  return OWN_HEADERS.includes(name.toLowerCase());
}

/** As the server runs it. Undefined where it is no regular expression, which the server refuses. */
function toExpression(source) {
  try {
    return new RegExp(source, 'u');
  } catch {
    return undefined;
  }
}
