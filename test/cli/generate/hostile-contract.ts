/** A contract with a mark in each place of a name or a text, and what is put there by somebody who means harm. */
import { readFileSync } from 'node:fs';
import fc, { type Arbitrary } from 'fast-check';
import { parse } from 'yaml';
import type { Json } from '../../any-json.ts';

const SKELETON = parse(readFileSync(new URL('./hostile-contract.yaml', import.meta.url), 'utf8'));

const MARK = /<\w+>/g;

export const MARKS = [...new Set(JSON.stringify(SKELETON).match(MARK))].sort();

/** The contract with these texts at their marks; at each other mark is its name. */
export function contractWith(texts: ReadonlyMap<string, string>): Json {
  const filled = (text: string, encode = (made: string) => made) =>
    text.replace(MARK, (mark) => encode(texts.get(mark) ?? mark.slice(1, -1)));
  const toStep = (text: string) => encodeURIComponent(text.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1'));
  function fill(node: Json, key = ''): Json {
    if (typeof node === 'string') return filled(node, key === '$ref' ? toStep : undefined);
    if (Array.isArray(node)) return node.map((item) => fill(item));
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(Object.entries(node).map(([name, value]) => [filled(name), fill(value, name)]));
  }
  return fill(SKELETON);
}

/** Texts that end a text, a comment, a word or a line in some language, with code that would run behind it. */
const PARTS = [
  ...['\u2028', '\u2029', '\u0085', '\n', '\r', '\0', '\u001b', "'", '"', '`', '\\', '*/', '/*', '//', '--', ';', '#'],
  ...[
    '${',
    '}',
    '{',
    ')',
    '(',
    '|',
    '&',
    '<',
    '>',
    '-->',
    '<!--',
    ']]>',
    '</script>',
    '</pre>',
    '<img src=x onerror=ran()>',
  ],
  ...[
    '$(ran)',
    '&ran&',
    '|ran|',
    ';ran;',
    '`ran`',
    ';ran();',
    '=ran()',
    ':ran',
    '@',
    ' ',
    '-',
    ',',
    '.',
    '/',
    '%27',
    '&#39;',
  ],
  ...[
    '\ud800',
    '\udc00',
    '\u202e',
    '__proto__',
    'constructor',
    'toString',
    '$ref',
    'a',
    'ran',
    '0',
    'é',
    '/etc/passwd',
  ],
  ...['[x](javascript:ran())', '![x](data:text/html,ran)', '<javascript:ran()>', '`code`'],
];

export const HOSTILE: Arbitrary<string> = fc
  .array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 5 })
  .map((parts) => parts.join(''));

/** Texts that end everything at once, and those that only some places take: of a name, a header, a path. */
export const WORST: [name: string, text: string][] = [
  ['the ends of texts', `x\u2028\u2029\n\r'"\`\\*/-->\${ran()}</script></pre><img src=x onerror=ran()>$(ran);ran()//`],
  ['__proto__', '__proto__'],
  ['constructor', 'constructor'],
  ['toString', 'toString'],
  ['a word of a shell that ends', "'&ran&'"],
  ['a path that ends', "';ran();'"],
  ['a type that ends', 'x;ran();type A=['],
  ['a literal that ends', '";ran()//'],
  ['a link that ends', '>;rel=next,<ran'],
  ['half a character, and signs that a terminal obeys', '\ud800\0\u001b]0;ran\u0007'],
];
