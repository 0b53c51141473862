/**
 * A pattern means the same in every tool that reads the contract: to the regular expressions of Python, Java, .NET, Go (RE2)
 * and ECMAScript, with `u` and without. So it is ASCII, has no `.` (line ends differ), no `\d`, `\w`, `\s`, `\b`, `\p`, `\u`,
 * no lookaround, back reference, named group or possessive quantifier, and no quotes, at which generators of code stumble:
 * `\x22` is one. What is taken by `[^…]` is counted in units of the engine, so it must be followed by `*` or `+`.
 */
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

export default function portablePatterns() {
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

/** How far it is portable. */
function lengthOfPortable(pattern) {
  let end = 0;
  for (PART.lastIndex = 0; PART.test(pattern); ) end = PART.lastIndex;
  return end;
}
