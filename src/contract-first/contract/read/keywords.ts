/**
 * Checks the server's own `x-` keywords: each must be at a node that may have it, with a valid value. Ignores other
 * `x-` keywords. Also reports numbers in the contract that a double would round.
 */
import type { Deprecation } from '../../engine/contract/contract.ts';
import { type Document, mapOperations, type OperationNode } from '../../engine/contract/document.ts';
import { EXACT } from '../../engine/contract/numbers.ts';
import { isNode, type Keywords, type ReportProblem } from '../../engine/schema/json.ts';
import { isNames, isValue } from '../../engine/schema/keys.ts';
import { toDouble } from '../../json/exact-number.ts';
import { isDate } from '../../json/instant.ts';
import { toPointerToken } from '../../json/pointer.ts';
import { mapPaths } from './normal-form.ts';

interface Extension {
  /** Matches the JSON Pointers of the nodes that may contain the keyword. */
  where: RegExp;
  allowedIn: string;
  fits: (value: unknown) => boolean;
  words: string;
}

const isWhole = (value: unknown) => Number.isSafeInteger(value) && (value as number) > 0;
const isTexts = (value: unknown) => Array.isArray(value) && value.every((item) => typeof item === 'string');
const isBoolean = (value: unknown) => typeof value === 'boolean';
const isText = (value: unknown) => typeof value === 'string';

const IN_OPERATION = { where: /\/(get|put|post|delete|options|head|patch|trace)$/, allowedIn: 'an operation' };
const IN_PARAMETER = { where: /\/parameters\/[^/]+$/, allowedIn: 'a parameter' };

const EXTENSIONS: Record<string, Extension> = {
  'x-max-bytes': {
    ...{ where: /\/(requestBody|requestBodies\/[^/]+)$/, allowedIn: 'a request body' },
    ...{ fits: isWhole, words: 'a whole number of bytes, 1 or more' },
  },
  // `parameters.ts` checks the value of `x-idempotency-hours`.
  'x-idempotency-hours': { ...IN_PARAMETER, fits: () => true, words: '' },
  'x-opaque': { ...IN_PARAMETER, fits: isBoolean, words: 'true or false' },
  'x-deprecated-at': { ...IN_OPERATION, fits: isText, words: "a date in quotes, such as '2030-12-05'" },
  'x-sunset': { ...IN_OPERATION, fits: isText, words: "a date in quotes, such as '2030-12-05'" },
  'x-successor': { ...IN_OPERATION, fits: isText, words: 'the operationId of another operation' },
  'x-extensible-enum': { where: /./, allowedIn: 'a schema', fits: isTexts, words: 'a list of texts' },
};

/** The new name of each renamed keyword. Without this table, the old name would be ignored silently. */
const RENAMED: Record<string, string> = { 'x-kept-hours': 'x-idempotency-hours' };

/** True for an `x-` keyword that the server reads. */
export const isOurs = (key: string): boolean => key in EXTENSIONS;

/** Reads `x-deprecated-at`, `x-sunset` and `x-successor`. */
export function toDeprecation(source: OperationNode, report: ReportProblem): Deprecation | undefined {
  if (!source.deprecated) {
    const alone = ['x-deprecated-at', 'x-sunset', 'x-successor'].filter((key) => source[key] !== undefined);
    for (const key of alone) report(`${key} needs deprecated: true next to it`, `/${key}`);
    return undefined;
  }
  return { at: dateIn('x-deprecated-at'), sunset: dateIn('x-sunset'), successor: source['x-successor'] };

  function dateIn(key: 'x-deprecated-at' | 'x-sunset'): Date | undefined {
    const said = source[key];
    if (said === undefined) return undefined;
    const date = new Date(said);
    if (Number.isNaN(date.getTime()) || !isDate(String(said).slice(0, 10))) report(`${key} is not a date`, `/${key}`);
    return date;
  }
}

/**
 * Removes `x-` keys from `paths` and `responses`, so that each remaining key is a path or a status. Adds an empty
 * `paths` if it is missing.
 */
export function withoutWords(document: Document): Document {
  return mapPaths({ ...document, paths: dropWords(document.paths ?? {}) }, (item) =>
    mapOperations(item, ({ responses, ...operation }) => ({
      ...operation,
      ...(responses && { responses: dropWords(responses) }),
    })),
  );
}

const dropWords = <Value>(node: Record<string, Value>): Record<string, Value> =>
  Object.fromEntries(Object.entries(node).filter(([key]) => !key.startsWith('x-')));

export function reportExtensions(node: unknown, report: ReportProblem, pointer = '#', hasNames = false): void {
  if (!isNode(node)) return;
  for (const [key, value] of Object.entries(node)) {
    // The keys of `responses` are statuses, so a key with `x-` is a keyword there as well.
    const isKeyword = !hasNames || pointer.endsWith('/responses');
    if (isKeyword && key.startsWith('x-')) reportExtension(key, value, pointer, report);
    if (!hasNames && isValue(key)) continue;
    const areNames = !hasNames && isNames(key) && !Array.isArray(value);
    reportExtensions(value, report, `${pointer}/${key.replaceAll('/', '~1')}`, areNames);
  }
}

function reportExtension(key: string, value: unknown, pointer: string, reportAny: ReportProblem): void {
  const report = (words: string) => reportAny(`${pointer}: ${key} ${words}`, `${pointer.slice(1)}/${key}`);
  const known = EXTENSIONS[key];
  const near = RENAMED[key] ?? Object.keys(EXTENSIONS).find((name) => isNear(name, key, 2));
  if (!known && near) report(`is not known: write ${near}, or give it another name`);
  else if (known && !known.where.test(pointer)) report(`means nothing here: put it into ${known.allowedIn}`);
  else if (known && !known.fits(value)) {
    report(`is ${JSON.stringify(value)}, and must be ${known.words}`);
  }
}

/** True if at most this number of letters must be inserted, removed or replaced to make two names equal. */
function isNear(one: string, other: string, letters: number): boolean {
  if (one === other) return true;
  if (letters === 0) return false;
  if (one[0] === other[0]) return isNear(one.slice(1), other.slice(1), letters);
  const [oneRest, otherRest] = [one.slice(1), other.slice(1)];
  const pairs = [[oneRest, other] as const, [one, otherRest] as const, [oneRest, otherRest] as const];
  return pairs.some((pair) => isNear(...pair, letters - 1));
}

const INT64_TYPES = ['integer', 'string', 'boolean', 'null'];

/**
 * Reports an `int64` without `type: integer`, and integers that a double would round. Examples may contain such
 * integers, and so may limits and defaults, which the server keeps as `bigint`.
 */
export function reportInexactNumbers(node: unknown, pointer: string, report: ReportProblem): void {
  if (typeof node === 'bigint') {
    const isKept = EXACT.includes(pointer.slice(pointer.lastIndexOf('/') + 1)) || toDouble(node) !== undefined;
    if (!isKept) report(`${pointer}: ${node} is too large to be kept exactly`, pointer.slice(1));
    return;
  }
  if (!isNode(node)) return;
  const { type, format }: Keywords = node;
  const types = [type ?? []].flat();
  if (format === 'int64' && !(types.includes('integer') && types.every((type) => INT64_TYPES.includes(type)))) {
    report(`${pointer}: int64 needs type: integer, alone or with string, boolean or null`, pointer.slice(1));
  }
  for (const [key, value] of Object.entries(node)) {
    if (key !== 'example' && key !== 'examples')
      reportInexactNumbers(value, `${pointer}/${toPointerToken(key)}`, report);
  }
}
