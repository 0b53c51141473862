/**
 * Finds code that makes the ids of a collection, if a client may omit the id and the store does not set it. Every form
 * of ids has sample ids, which must fit the id's schema.
 */
import { isMatch } from '../../contract/subsets/keyword-subsets.ts';
import type { Keywords } from '../../engine/schema/json.ts';
import { type CheckedCode, code } from '../generate/source-text.ts';

export interface MadeId {
  /** Writes code for the id of a record. `body` is the code for the request's record. */
  toCode: (body: CheckedCode) => CheckedCode;
  /** The names that the code imports from `node:crypto`. */
  imports: string[];
}

interface IdForm {
  code: CheckedCode;
  imports: string[];
  samples: string[];
}

const UUID: IdForm = {
  code: code`randomUUID()`,
  imports: ['randomUUID'],
  samples: ['123e4567-e89b-42d3-a456-426614174000', 'fedcba98-7654-4321-bfed-cba987654321'],
};

const toHex = (length: number, isUpper: boolean): IdForm => {
  const [upper, toCase] = isUpper
    ? [code`.toUpperCase()`, (text: string) => text.toUpperCase()]
    : [code``, (text: string) => text];
  return {
    code: code`randomBytes(${Math.ceil(length / 2)}).toString('hex').slice(0, ${length})${upper}`,
    imports: ['randomBytes'],
    samples: ['0', 'a', 'f', '9'].map((digit) => toCase(digit.repeat(length))),
  };
};

const toDigits = (length: number): IdForm => ({
  code: code`String(randomInt(${10 ** (length - 1)}, ${10 ** length}))`,
  imports: ['randomInt'],
  samples: ['1', '9'].map((digit) => digit.repeat(length)),
});

/** The form of a ULID: 26 digits and capital letters, beginning with 0 to 7. */
const ULID: IdForm = {
  code: code`Array.from(randomBytes(26), (byte, at) => '0123456789ABCDEFGHJKMNPQRSTVWXYZ'[byte % (at ? 32 : 8)]).join('')`,
  imports: ['randomBytes'],
  samples: ['0', '7'].flatMap((first) => ['0', '9', 'A', 'Z', 'Q', 'V', 'T'].map((next) => first + next.repeat(25))),
};

const LENGTHS = [24, 32, 16, 12, 20, 10, 8, 26, 27, 25, 21, 22, 40, 64, 36, 14, 18, 7, 6];

/** The forms of text ids. The first form that fits is used. */
const FORMS: IdForm[] = [
  UUID,
  ...LENGTHS.map((length) => toHex(length, false)),
  ULID,
  ...LENGTHS.map((length) => toHex(length, true)),
  ...[12, 10, 8, 14, 9, 7, 6, 5, 4].map(toDigits),
];

/** Returns the fixed text at the start of a pattern: `trf_` for `^trf_[a-z]+$`. */
const prefixOf = (pattern = ''): string => /^\^([\w:-]*?)(?=[[(\\.]|$)/.exec(pattern)?.[1] ?? '';

/** True if UUIDs fit the schema of the id. */
export const fitsUuid = (keywords: Keywords): boolean =>
  /^(undefined|uuid)$/.test(String(keywords.format)) && UUID.samples.every((sample) => fitsText(sample, keywords));

/** True if a text fits the keywords for texts in the schema. Other keywords are not checked. */
export const fitsText = (
  sample: string,
  { pattern, minLength = 0, maxLength = 255, enum: listed }: Keywords,
): boolean =>
  !listed &&
  sample.length >= minLength &&
  sample.length <= maxLength &&
  (pattern === undefined || isMatch(pattern, sample) === true);

/** Matches formats that allow no form of ids other than UUIDs. */
const OTHER = /^(email|idn-email|uri|uri-reference|iri|date|time|date-time|ipv4|ipv6|hostname|byte|binary|uuid)$/;

/** Finds a form of text ids that fits the schema. Returns undefined if no form fits. */
export function findTextId(keywords: Keywords): MadeId | undefined {
  const { pattern, format = '' } = keywords;
  if (fitsUuid(keywords)) return toMade(UUID, '');
  if (OTHER.test(format)) return undefined;
  const first = format === 'ulid' ? [ULID] : /object-?id/i.test(format) ? [toHex(24, false)] : [];
  const prefix = prefixOf(pattern);
  const form = [...first, ...FORMS].find(({ samples }) => samples.every((one) => fitsText(prefix + one, keywords)));
  return form && toMade(form, prefix);
}

const toMade = ({ code: made, imports }: IdForm, prefix: string): MadeId => ({
  toCode: () => (prefix === '' ? made : code`${prefix} + ${made}`),
  imports,
});

/** Makes random numbers as ids: `bigint` below 2^47, or integers below 2^31. */
export const toNumberId = (isBigint: boolean): MadeId => ({
  toCode: () => (isBigint ? code`BigInt(randomInt(1, 2 ** 47))` : code`randomInt(1, 2 ** 31)`),
  imports: ['randomInt'],
});

/**
 * Makes slugs from a text in the body, such as `a-title-1f3870be`. Returns undefined if such slugs do not fit the
 * schema.
 */
export function toSlugId(keywords: Keywords, toText: (body: CheckedCode) => CheckedCode): MadeId | undefined {
  const samples = ['a-title-1f3870be', `${'a'.repeat(80)}-1f3870be`];
  if (keywords.format !== undefined || !samples.every((one) => fitsText(one, keywords))) return undefined;
  return {
    toCode: (body) =>
      code`[${toText(body)}.toLowerCase().replace(/[^a-z0-9]+/g, '-').slice(0, 80), randomUUID().slice(0, 8)].join('-')`,
    imports: ['randomUUID'],
  };
}
