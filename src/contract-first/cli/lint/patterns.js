/** Rules for regular expressions. */
import { SERVER_HEADERS } from '../../engine/replies/reply-headers.ts';
import { isLinear } from '../patterns.ts';

/**
 * The rule `linear-patterns`: a pattern must run in linear time on every text, because the server runs it on texts from
 * anybody. Otherwise, a crafted text blocks the server for seconds or for ever.
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

/**
 * True if the pattern belongs to a header that the server itself sends. The server never runs such a pattern on a text
 * from a client.
 */
function isOwn(pointer) {
  const [, name = ''] = /\/headers\/([^/]+)\/schema/.exec(pointer) ?? [];
  return SERVER_HEADERS.includes(name.toLowerCase());
}

/**
 * Returns the pattern as a regular expression, as the server runs it. Returns undefined if it is not a valid
 * expression. The server does not start with such a pattern.
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
 * The rule `portable-patterns`: a pattern must mean the same in all tools that read the contract, that is, in the
 * regular expressions of Python, Java, .NET, Go (RE2) and ECMAScript, with and without `u`. So it must be ASCII, and
 * may not contain `.`, because engines differ in line ends; `\d`, `\w`, `\s`, `\b`, `\p` or `\u`; lookarounds, back
 * references, named groups or possessive quantifiers; or quotation marks, which break code generators (write `\x22`
 * instead). Engines count the characters that `[^…]` matches in different units, so `*` or `+` must follow it.
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

/** Returns the length of the longest portable part at the start of a pattern. */
function lengthOfPortable(pattern) {
  let end = 0;
  for (PART.lastIndex = 0; PART.test(pattern); ) end = PART.lastIndex;
  return end;
}
