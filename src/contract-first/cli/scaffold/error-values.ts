/**
 * The possible values of fields in an error body. Every value exists as code for `src/errors.ts`, and as a function
 * that the code is tried with.
 */
import { STATUS_CODES } from 'node:http';
import { buildCatalogue, type ErrorCode } from '../../engine/errors/catalogue.ts';
import type { OwnError } from '../../engine/errors/error-body.ts';
import type { Problem } from '../../engine/errors/problem.ts';
import type { Keywords } from '../../engine/schema/json.ts';
import { type CheckedCode, checkedName, code, joined, toLiteral } from '../generate/source-text.ts';

/** The error codes of a service without collections. */
export const CATALOGUE = buildCatalogue({});

export const CODES = Object.keys(CATALOGUE) as ErrorCode[];

export const statusOf = (code: ErrorCode): number => Number(CATALOGUE[code]?.status);

/** An error. Inside a list of problems, `problem` is one of the error's problems. */
export type Told = OwnError & { problem?: Problem };

export interface ErrorValue {
  code: CheckedCode;
  toValue: (error: Told) => unknown;
  /** The properties of the error that the code reads, such as `message`. */
  uses: string[];
  /** True if the meaning of the field is known from its name, or if the contract allows only one value. */
  isKnown: boolean;
  /** For fields of unknown meaning, lines such as `body.kind is "x"`. */
  assumed: string[];
  /** Constants that the code needs, as code by their names. */
  constants: Map<string, CheckedCode>;
  /** If the value is a list of problems: the code of the list if there is at least one problem. */
  ofProblems?: CheckedCode;
  /** True if the code needs `STATUS_CODES`, Node's table of reason phrases. */
  hasPhrases?: boolean;
}

export const toErrorValue = (
  code: CheckedCode,
  uses: string[],
  toValue: ErrorValue['toValue'],
  others: Partial<ErrorValue> = {},
): ErrorValue => ({ code, uses, toValue, isKnown: true, assumed: [], constants: new Map(), ...others });

/** Makes a value that is the same for every error. */
export const toConstant = (value: unknown, others: Partial<ErrorValue> = {}): ErrorValue =>
  toErrorValue(toLiteral(value), [], () => value, others);

const MESSAGE = toErrorValue(code`message`, ['message'], ({ message }) => message);
const STATUS = toErrorValue(code`status`, ['status'], ({ status }) => status);

/** The ways to write an error code. Every expression matches examples in the contract that are written in this way. */
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

/**
 * For the fields of a problem: the property of the problem that a field with a matching name contains. The first match
 * counts.
 */
const PROBLEM_TEXTS: [name: RegExp, value: ErrorValue][] = [
  [/message|msg|detail|descr|reason|text|title|issue|^error$/i, ofProblem('message')],
  [/^in$|location|source/i, ofProblem('in')],
  [/code|type|rule|keyword|kind|constraint/i, ofProblem('code')],
  [/field|path|property|pointer|loc|param|attribute|target|name|key|place|where|domain/i, ofProblem('place')],
];

/** True if the name of a field means that it contains a message for people. */
const isMessage = (name: string): boolean =>
  /message|msg|detail|descr|reason|text|explanation|summary/i.test(name) && !/code|type/i.test(name);

/**
 * Returns the possible values of a text field, the most likely first. `others` contains the names of the fields next to
 * it.
 */
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

/** Returns the message, and the message cut or padded to the length limits of its field. */
export function messagesFor({ minLength: least = 0, maxLength: most }: Keywords): ErrorValue[] {
  const longer = least > 1 ? code`message.padEnd(${least})` : code`message`;
  const shorter = most === undefined ? longer : code`[...${longer}].slice(0, ${most}).join('')`;
  const toValue = ({ message }: OwnError) => [...message.padEnd(least)].slice(0, most).join('');
  return [MESSAGE, toErrorValue(shorter, ['message'], toValue)];
}

/** Returns the possible values of a number, by the name of its field. */
export function numbersFor(name: string, { format }: Keywords, isInProblem: boolean): ErrorValue[] {
  if (isInProblem || !/code|status|http|error|number|^id$/i.test(name)) return [];
  const big = toErrorValue(code`BigInt(status)`, ['status'], ({ status }) => BigInt(status));
  return format === 'int64' ? [big] : [STATUS];
}

/** Returns the possible values of a boolean, by the name of its field. */
export function booleansFor(name: string): ErrorValue[] {
  if (/success|^ok$|valid/i.test(name)) return [toConstant(false)];
  if (/retry|temporary|transient/i.test(name))
    return [toErrorValue(code`status >= 500`, ['status'], ({ status }) => status >= 500)];
  return /error|fail|fatal/i.test(name) ? [toConstant(true)] : [];
}

/** Words in the values of an enum that mean an error with this status. */
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
 * Chooses the value of an enum for a status: a value that equals an error code with this status, or else one that
 * contains words for the status, or else a general value.
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

/** Writes a constant: a table of the enum's values by status. */
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

/** True if the name of a field means that it contains problems. */
export const isProblems = (name: string): boolean =>
  /error|problem|detail|violation|field|issue|invalid|validation|fault|cause|param|reason/i.test(name);
