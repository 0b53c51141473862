/** The `x-` keywords of the server: where each may be, and which values it may have. Other `x-` keywords are ignored. */
import { type Document, mapOperations } from '../../engine/contract/document.ts';
import { isNode, type Refuse } from '../../engine/schema/json.ts';
import { isNames, isValue } from '../../engine/schema/keys.ts';

interface Extension {
  /** Matches the JSON Pointers of places where the keyword may be. */
  where: RegExp;
  place: string;
  fits: (value: unknown) => boolean;
  words: string;
}

const isWhole = (value: unknown) => Number.isSafeInteger(value) && (value as number) > 0;
const isTexts = (value: unknown) => Array.isArray(value) && value.every((item) => typeof item === 'string');
const isText = (value: unknown) => typeof value === 'string';

const IN_OPERATION = { where: /\/(get|put|post|delete|options|head|patch|trace)$/, place: 'an operation' };
const IN_PARAMETER = { where: /\/parameters\/[^/]+$/, place: 'a parameter' };

const EXTENSIONS: Record<string, Extension> = {
  'x-max-bytes': {
    ...{ where: /\/(requestBody|requestBodies\/[^/]+)$/, place: 'a request body' },
    ...{ fits: isWhole, words: 'a whole number of bytes, 1 or more' },
  },
  // The value of `x-idempotency-hours` is checked with its parameter.
  'x-idempotency-hours': { ...IN_PARAMETER, fits: () => true, words: '' },
  'x-opaque': { ...IN_PARAMETER, fits: (value) => typeof value === 'boolean', words: 'true or false' },
  'x-deprecated-at': { ...IN_OPERATION, fits: isText, words: "a date in quotes, such as '2030-12-05'" },
  'x-sunset': { ...IN_OPERATION, fits: isText, words: "a date in quotes, such as '2030-12-05'" },
  'x-successor': { ...IN_OPERATION, fits: isText, words: 'the operationId of another operation' },
  'x-extensible-enum': { where: /./, place: 'a schema', fits: isTexts, words: 'a list of texts' },
  'x-complete': {
    where: /^#$/,
    place: 'the root',
    fits: (value) => typeof value === 'boolean',
    words: 'true or false',
  },
};

/** Keywords of before, which would be ignored in silence. */
const RENAMED: Record<string, string> = { 'x-kept-hours': 'x-idempotency-hours' };

/** Whether an `x-` keyword is one of the server's. */
export const isOurs = (key: string): boolean => key in EXTENSIONS;

/** Removes `x-` keys from paths and responses, where every other key is a path or a status. Missing paths become empty. */
export function withoutWords(document: Document): Document {
  const paths = Object.entries(dropWords(document.paths ?? {})).map(([path, item]) => [
    path,
    mapOperations(item, ({ responses, ...operation }) => ({
      ...operation,
      ...(responses && { responses: dropWords(responses) }),
    })),
  ]);
  return { ...document, paths: Object.fromEntries(paths) };
}

const dropWords = <Value>(node: Record<string, Value>): Record<string, Value> =>
  Object.fromEntries(Object.entries(node).filter(([key]) => !key.startsWith('x-')));

export function checkExtensions(node: unknown, refuse: Refuse, place = '#', hasNames = false): void {
  if (!isNode(node)) return;
  for (const [key, value] of Object.entries(node)) {
    // A status never begins with `x-`.
    const isKeyword = !hasNames || place.endsWith('/responses');
    if (isKeyword && key.startsWith('x-')) checkExtension(key, value, place, refuse);
    if (!hasNames && isValue(key)) continue;
    const areNames = !hasNames && isNames(key) && !Array.isArray(value);
    checkExtensions(value, refuse, `${place}/${key.replaceAll('/', '~1')}`, areNames);
  }
}

function checkExtension(key: string, value: unknown, place: string, refuse: Refuse): void {
  const known = EXTENSIONS[key];
  const near = RENAMED[key] ?? Object.keys(EXTENSIONS).find((name) => isNear(name, key, 2));
  if (!known && near) refuse(`${place}: ${key} is not known: write ${near}, or give it another name`);
  else if (known && !known.where.test(place)) refuse(`${place}: ${key} means nothing here: put it into ${known.place}`);
  else if (known && !known.fits(value)) {
    refuse(`${place}: ${key} is ${JSON.stringify(value)}, and must be ${known.words}`);
  }
}

/** Whether two names differ by only a few letters. */
function isNear(one: string, other: string, letters: number): boolean {
  if (one === other) return true;
  if (letters === 0) return false;
  if (one[0] === other[0]) return isNear(one.slice(1), other.slice(1), letters);
  const [oneRest, otherRest] = [one.slice(1), other.slice(1)];
  return [
    isNear(oneRest, other, letters - 1),
    isNear(one, otherRest, letters - 1),
    isNear(oneRest, otherRest, letters - 1),
  ].some(Boolean);
}
