/** Rules of regular expressions. */
import { SERVER_HEADERS } from '../../engine/replies/reply-headers.ts';
import { isLinear } from '../patterns.ts';

/**
 * A pattern must run in linear time on every text. The server runs it on texts that anybody sends. If the time is not linear, a crafted
 * text blocks the server for seconds, or for ever.
 */
export function linearPatterns() {
  return {
    Schema({ pattern, patternProperties = {} }, { location, report }) {
      if (isOwn(location.pointer)) return;
      const names = Object.keys(patternProperties).map((name) => [name, location.child(['patternProperties', name])]);
      const all = typeof pattern === 'string' ? [[pattern, location.child('pattern')], ...names] : names;
      for (const [source, position] of all) {
        const expression = toExpression(source);
        if (!expression || isLinear(expression)) continue;
        report({
          message: `The pattern ${source} is not known to take time in proportion to its text: no part may begin where another can go on.`,
          location: position,
        });
      }
    },
  };
}

/** Whether the pattern belongs to a header that the server itself sends. Clients' text is never matched with such a pattern. */
function isOwn(pointer) {
  const [, name = ''] = /\/headers\/([^/]+)\/schema/.exec(pointer) ?? [];
  return SERVER_HEADERS.includes(name.toLowerCase());
}

/**
 * Returns the pattern as the server runs it. Undefined if it is not a regular expression; the server does not start with such a pattern.
 */
function toExpression(source) {
  try {
    return new RegExp(source, 'u');
  } catch {
    return undefined;
  }
}

const ESCAPE = String.raw`\\(?:x[0-9A-Fa-f]{2}|[\\^$.*+?()[\]{}|/])`;
const MEMBER = String.raw`(?:[^\\[\]^\-&~|"'\x60\x00-\x1f\x7f-\uffff]|${ESCAPE})`;
const MEMBERS = `${MEMBER}(?:-${MEMBER}|${MEMBER})*-?`;
const PARTS = [
  String.raw`[^\\[\](){}.*+?|^$"'\x60\x00-\x1f\x7f-\uffff]`,
  ESCAPE,
  String.raw`[|^$)]|\((?:\?:)?(?!\?)`,
  String.raw`\[(?:${MEMBERS}\]|\^${MEMBERS}\](?=[*+]))`,
  String.raw`(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})\??(?![*+?{])`,
];
const PART = new RegExp(PARTS.join('|'), 'y');

/**
 * A pattern means the same in every tool that reads the contract: to the regular expressions of Python, Java, .NET, Go (RE2) and
 * ECMAScript, with `u` and without. So it is ASCII, has no `.` (line ends differ), no `\d`, `\w`, `\s`, `\b`, `\p`, `\u`, no lookaround,
 * back reference, named group or possessive quantifier, and no quotes, which break generators of code: write `\x22` instead. Engines count
 * the characters that `[^…]` matches in different units, so `[^…]` must be followed by `*` or `+`.
 */
export function portablePatterns() {
  return {
    Schema({ pattern }, { location, report }) {
      if (typeof pattern !== 'string') return;
      const rest = pattern.slice(lengthOfPortable(pattern));
      if (rest === '') return;
      const message = `The pattern ${pattern} is not understood alike by every engine, from ${rest} on.`;
      report({ message, location: location.child('pattern') });
    },
  };
}

/** The length of the portable beginning of a pattern. */
function lengthOfPortable(pattern) {
  let end = 0;
  for (PART.lastIndex = 0; PART.test(pattern); ) end = PART.lastIndex;
  return end;
}
