/** The values that fields of an error body may have: each as code for `src/errors.ts`, and as a function to try it with. */
import { STATUS_CODES } from 'node:http';
import { buildCatalogue, type ErrorCode } from '../../engine/errors/catalogue.ts';
import type { OwnError } from '../../engine/errors/error-body.ts';
import type { Problem } from '../../engine/errors/problem.ts';
import type { Keywords } from '../../engine/schema/json.ts';
import { type CheckedCode, checkedName, code, joined, toLiteral } from '../generate/source-text.ts';

/** The codes of a service without collections. */
export const CATALOGUE = buildCatalogue({});

export const CODES = Object.keys(CATALOGUE) as ErrorCode[];

export const statusOf = (code: ErrorCode): number => Number(CATALOGUE[code]?.status);

/** An error, and inside a list of problems also the current problem. */
export type Told = OwnError & { problem?: Problem };

export interface ErrorValue {
  code: CheckedCode;
  toValue: (error: Told) => unknown;
  /** The properties of the error that the code reads. */
  uses: string[];
  /** Whether the name of the field, or a constant, gives its meaning. */
  isKnown: boolean;
  /** The fields of unknown meaning, with their values. */
  assumed: string[];
  /** Constants that the code needs, by their names. */
  constants: Map<string, CheckedCode>;
  /** The code for a list of problems that is not empty. */
  ofProblems?: CheckedCode;
  /** Whether the code needs the reason phrases of HTTP's statuses. */
  hasPhrases?: boolean;
}

export const toErrorValue = (
  code: CheckedCode,
  uses: string[],
  toValue: ErrorValue['toValue'],
  others: Partial<ErrorValue> = {},
): ErrorValue => ({ code, uses, toValue, isKnown: true, assumed: [], constants: new Map(), ...others });

/** Makes a value that is always the same. */
export const toConstant = (value: unknown, others: Partial<ErrorValue> = {}): ErrorValue =>
  toErrorValue(toLiteral(value), [], () => value, others);

const MESSAGE = toErrorValue(code`message`, ['message'], ({ message }) => message);
const STATUS = toErrorValue(code`status`, ['status'], ({ status }) => status);

/** The spellings of a code, each with a pattern of its examples. */
const SPELLINGS: [example: RegExp, value: ErrorValue][] = [
  [/^[a-z0-9]+(_[a-z0-9]+)+$/, toErrorValue(code`code`, ['code'], (error) => error.code)],
  [/^[A-Z0-9]+(_[A-Z0-9]+)*$/, toErrorValue(code`code.toUpperCase()`, ['code'], (error) => error.code.toUpperCase())],
  [
    /^[a-z0-9]+(-[a-z0-9]+)+$/,
    toErrorValue(code`code.replaceAll('_', '-')`, ['code'], (error) => error.code.replaceAll('_', '-')),
  ],
  [
    /^[A-Z][a-z0-9]+([A-Z][a-z0-9]+)*$/,
    toErrorValue(code`code.replace(/(?:^|_)(.)/g, (_, letter) => letter.toUpperCase())`, ['code'], (error) =>
      error.code.replace(/(?:^|_)(.)/g, (_, letter) => letter.toUpperCase()),
    ),
  ],
  [
    /^[a-z0-9]+([A-Z][a-z0-9]+)+$/,
    toErrorValue(code`code.replace(/_(.)/g, (_, letter) => letter.toUpperCase())`, ['code'], (error) =>
      error.code.replace(/_(.)/g, (_, letter) => letter.toUpperCase()),
    ),
  ],
  [/^\d{3}$/, toErrorValue(code`String(status)`, ['status'], ({ status }) => String(status))],
];

const TITLE = toErrorValue(
  code`STATUS_CODES[status] ?? message`,
  ['status', 'message'],
  ({ status }) => STATUS_CODES[status],
  { hasPhrases: true },
);
const REQUEST = toErrorValue(code`requestId`, ['requestId'], ({ requestId }) => requestId);
const NOW = toErrorValue(code`new Date().toISOString()`, [], () => new Date().toISOString());
const BLANK = toConstant('about:blank');

const ofProblem = (name: 'place' | 'message' | 'code' | 'in'): ErrorValue =>
  toErrorValue(code`problem.${checkedName(name)}`, [], ({ problem }) => problem?.[name]);

/** The properties of a problem by the name of a field: the first name that fits wins. */
const PROBLEM_TEXTS: [name: RegExp, value: ErrorValue][] = [
  [/message|msg|detail|descr|reason|text|title|issue|^error$/i, ofProblem('message')],
  [/^in$|location|source/i, ofProblem('in')],
  [/code|type|rule|keyword|kind|constraint/i, ofProblem('code')],
  [/field|path|property|pointer|loc|param|attribute|target|name|key|place|where|domain/i, ofProblem('place')],
];

/** Whether a field's name shows that it is for people. */
const isMessage = (name: string): boolean =>
  /message|msg|detail|descr|reason|text|explanation|summary/i.test(name) && !/code|type/i.test(name);

/** Returns the values that a text may have, the likeliest first. `others` contains the fields next to it. */
export function textsFor(name: string, keywords: Keywords, others: string[], isInProblem: boolean): ErrorValue[] {
  if (isInProblem) return PROBLEM_TEXTS.filter(([known]) => known.test(name)).map(([, value]) => value);
  const { format = '', example, examples: [first = example] = [] } = keywords;
  const isProblemDetails = ['title', 'status', 'detail'].filter((one) => others.includes(one)).length > 1;
  const spellings = [...SPELLINGS].sort(([a], [b]) => Number(b.test(String(first))) - Number(a.test(String(first))));
  const codes = spellings.map(([, value]) => value);
  if (/^uri/.test(format) || (name === 'type' && isProblemDetails)) return [BLANK];
  if (/date|time/.test(format) || /time(stamp)?$|date$/i.test(name)) return [NOW];
  if (/request|trace|correlation|instance|log_?id|incident/i.test(name)) return [REQUEST];
  if (isMessage(name)) return messagesFor(keywords);
  if (/title|status_?(text|message)|phrase|label/i.test(name)) return [TITLE, ...messagesFor(keywords)];
  if (/status|http/i.test(name)) return [SPELLINGS.at(-1)?.[1] as ErrorValue, TITLE, ...codes];
  const isSpoken = others.some((other) => other !== name && isMessage(other));
  if (/^errors?$/i.test(name) && !isSpoken) return [...messagesFor(keywords), ...codes];
  if (/code|type|error|kind/i.test(name) || (isSpoken && /^(id|key|name)$/i.test(name))) return [...codes, TITLE];
  return [];
}

/** Returns the message, shortened or padded to the limits of its field. */
export function messagesFor({ minLength: least = 0, maxLength: most }: Keywords): ErrorValue[] {
  const longer = least > 1 ? code`message.padEnd(${least})` : code`message`;
  const shorter = most === undefined ? longer : code`[...${longer}].slice(0, ${most}).join('')`;
  const toValue = ({ message }: OwnError) => [...message.padEnd(least)].slice(0, most).join('');
  return [MESSAGE, toErrorValue(shorter, ['message'], toValue)];
}

/** Returns the values that a number may have. */
export function numbersFor(name: string, { format }: Keywords, isInProblem: boolean): ErrorValue[] {
  if (isInProblem || !/code|status|http|error|number|^id$/i.test(name)) return [];
  const big = toErrorValue(code`BigInt(status)`, ['status'], ({ status }) => BigInt(status));
  return format === 'int64' ? [big] : [STATUS];
}

/** Returns the values that a boolean may have. */
export function booleansFor(name: string): ErrorValue[] {
  if (/success|^ok$|valid/i.test(name)) return [toConstant(false)];
  if (/retry|temporary|transient/i.test(name))
    return [toErrorValue(code`status >= 500`, ['status'], ({ status }) => status >= 500)];
  return /error|fail|fatal/i.test(name) ? [toConstant(true)] : [];
}

/** The words in the values of an enum that show the status of an error. */
const STATUS_WORDS: [status: number, words: RegExp][] = [
  [401, /unauth|authenti|credential|token|login/i],
  [403, /forbid|permission|denied|access|authoriz/i],
  [404, /not_?-?found|missing|unknown|no_?such|exist/i],
  [405, /method/i],
  [406, /acceptable/i],
  [408, /time_?out/i],
  [409, /conflict|exist|duplicate/i],
  [410, /gone|expired/i],
  [412, /precondition/i],
  [413, /large|size|length/i],
  [415, /media|content_?type|format/i],
  [422, /unprocess|invalid|validation/i],
  [429, /rate|too_?-?many|throttl|limit|quota/i],
  [501, /implement|supported/i],
  [503, /unavail|overload|maintenance/i],
];

const plain = (text: unknown) =>
  String(text)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');

/**
 * Chooses the value of an enum for a status: a value that equals a code with this status, or that contains words for the status. Otherwise
 * it is a general value.
 */
function choose(values: unknown[], status: number): unknown {
  const codes = CODES.filter((one) => statusOf(one) === status);
  const named = values.find((value) => [...codes, STATUS_CODES[status], status].map(plain).includes(plain(value)));
  const words = STATUS_WORDS.find(([known]) => known === status)?.[1];
  const range = status < 500 ? /invalid|bad|validation|client|request/i : /internal|server|unexpected/i;
  const general = [words, range, /error|general|other|unknown|fail/i].map((known) =>
    values.find((value) => typeof value === 'string' && known?.test(value)),
  );
  return named ?? general.find((value) => value !== undefined) ?? values[0];
}

/** Writes a constant with a table of an enum's values by status. */
export function toStatusTable(name: string, values: unknown[], codes: ErrorCode[]): ErrorValue {
  const statuses = [...new Set(codes.map((one) => statusOf(one)))].sort((a, b) => a - b);
  const chosen = new Map(statuses.map((status) => [status, choose(values, status)]));
  const [first] = chosen.values();
  if (new Set(chosen.values()).size < 2) return toConstant(first);
  const usual = choose(values, 500);
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_');
  const constant = checkedName(`${/^[A-Z]/.test(words) ? words : 'VALUE'}_BY_STATUS`);
  const rows = [...chosen].map(([status, value]) => code`  ${status}: ${toLiteral(value)},\n`);
  const table = code`{\n${joined(rows, '')}} as const`;
  const read = code`${constant}[status as keyof typeof ${constant}] ?? ${toLiteral(usual)}`;
  return toErrorValue(read, ['status'], ({ status }) => chosen.get(status) ?? usual, {
    constants: new Map([[constant.text, table]]),
  });
}

/** Whether a field's name shows that it contains problems. */
export const isProblems = (name: string): boolean =>
  /error|problem|detail|violation|field|issue|invalid|validation|fault|cause|param|reason/i.test(name);
