/** A contract with a mark at each position where a name or text is allowed, and hostile texts to put there. */
import { readFileSync } from 'node:fs';
import fc, { type Arbitrary } from 'fast-check';
import { parse } from 'yaml';
import type { Json } from '../../any-json.ts';

const MARK = /<\w+>/g;

export interface Skeleton {
  contract: Json;
  /** The marks in the contract. */
  marks: string[];
}

const readSkeleton = (name: string): Skeleton => {
  const contract = parse(readFileSync(new URL(name, import.meta.url), 'utf8'));
  return { contract, marks: [...new Set(JSON.stringify(contract).match(MARK))].sort() };
};

/** A contract with everything that the page, the types and the server read. */
export const ALL = readSkeleton('./hostile-contract.yaml');
/** A contract whose records `new` and the sandbox store. */
export const RECORDS = readSkeleton('./hostile-records.yaml');

/** Returns the contract with texts in place of some marks. Each other mark is replaced by its name. */
export function contractWith(texts: ReadonlyMap<string, string>, { contract }: Skeleton = ALL): Json {
  const filled = (text: string, encode = (made: string) => made) =>
    text.replace(MARK, (mark) => encode(texts.get(mark) ?? mark.slice(1, -1)));
  const toStep = (text: string) => encodeURIComponent(text.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1'));
  function fill(node: Json, key = ''): Json {
    if (typeof node === 'string') return filled(node, key === '$ref' ? toStep : undefined);
    if (Array.isArray(node)) return node.map((item) => fill(item));
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(Object.entries(node).map(([name, value]) => [filled(name), fill(value, name)]));
  }
  return fill(contract);
}

/** Texts that end a string, a comment, a word or a line in some language, followed by code that would then run. */
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

/**
 * A text that ends everything at the same time, and texts for positions that accept only some characters, such as
 * names, headers and paths.
 */
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
