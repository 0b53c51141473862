/**
 * Finds an error body that fits its schema in the contract. For each field, it tries the values that the field's name
 * suggests, with the errors that the server sends.
 */

import { failuresOf, REQUEST_ID } from '../../contract/checks/server-errors.ts';
import { buildSamples } from '../../contract/page/sample.ts';
import type { ErrorCode } from '../../engine/errors/catalogue.ts';
import type { BuildCheck } from '../../engine/schema/checks.ts';
import { type Keywords, keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { targetOf } from '../../engine/schema/subschemas.ts';
import { mergeAllOf } from '../../engine/schema/value-types.ts';
import { type CheckedCode, code, toObjectLiteral } from '../generate/source-text.ts';
import { toTyped } from './assumed-values.ts';
import {
  booleansFor,
  CATALOGUE,
  type ErrorValue,
  isProblems,
  messagesFor,
  numbersFor,
  type Told,
  textsFor,
  toConstant,
  toErrorValue,
  toStatusTable,
} from './error-values.ts';

interface FormOptions {
  buildCheck: BuildCheck;
  /** The codes of the errors with a body of this schema. */
  codes: ErrorCode[];
  /**
   * True if a text field of unknown meaning should contain the error's message. Tried if the body would otherwise not
   * contain the message.
   */
  saysAnywhere: boolean;
  /**
   * True if optional fields are also written if they contain fields of unknown meaning. Tried if the body would
   * otherwise not contain the message.
   */
  keepsAssumed: boolean;
}

/** The position of a value in a body. */
interface Place {
  /** The name of the field that contains the value. */
  name: string;
  /** The path of the value, for messages: `body.error`. */
  at: string;
  /** The names of all fields of the object that contains the value. */
  others: string[];
  isInProblem: boolean;
  /** The schemas of the objects and lists that contain the value. */
  around: Keywords[];
}

const flat = (schema: Schema = true): Keywords => mergeAllOf(targetOf(schema) ?? schema);

const samples = buildSamples({ follow: structuredClone, flat });

/** Finds an error body that fits the schema for all `codes`. Returns undefined if no body fits. */
export function findForm(schema: Schema, options: FormOptions): ErrorValue | undefined {
  const whole = { name: '', at: 'body', others: [], isInProblem: false, around: [] };
  return new FormFinder(options).find(schema, whole);
}

class FormFinder {
  readonly #buildCheck: BuildCheck;
  readonly #codes: ErrorCode[];
  readonly #errors: Told[];
  readonly #problems: Told[];
  readonly #keepsAssumed: boolean;
  /** True if a text field of unknown meaning must not get the message (any more). */
  #isSaid: boolean;

  constructor({ buildCheck, codes, saysAnywhere, keepsAssumed }: FormOptions) {
    this.#keepsAssumed = keepsAssumed;
    this.#buildCheck = buildCheck;
    this.#codes = codes;
    this.#isSaid = !saysAnywhere;
    this.#errors = codes
      .flatMap((one) => failuresOf(one, CATALOGUE))
      .map(({ body }) => ({
        ...{ code: body.code, message: body.message, status: body.status, problems: body.problems },
        ...{ requestId: REQUEST_ID, operation: undefined, reply: undefined },
      }));
    this.#problems = this.#errors.flatMap((error) => (error.problems ?? []).map((problem) => ({ ...error, problem })));
  }

  find(one: Schema, place: Place): ErrorValue | undefined {
    const keywords = flat(one);
    if (one === false || 'hidden' in keywords || place.around.includes(keywords)) return undefined;
    const choices = keywords.oneOf ?? keywords.anyOf;
    if (choices) return this.#findChoice(one, keywords, choices, place);
    const { const: only, enum: values } = keywords;
    if (values?.length === 1 || only !== undefined) return toConstant(only ?? values?.[0]);
    const [type] = [keywords.type ?? []].flat().filter((name) => name !== 'null');
    if (type === 'array' || (!type && keywords.items)) return this.#findList(one, keywords, place);
    if (type === 'object' || (!type && keywords.properties)) return this.#findObject(one, keywords, place);
    return this.#findScalar(one, keywords, type, place);
  }

  #firstFit(one: Schema, values: ErrorValue[], { at, isInProblem }: Place): ErrorValue | undefined {
    const check = this.#buildCheck(one, { name: at }, () => {});
    const errors = isInProblem ? this.#problems : this.#errors;
    return values.find(({ toValue }) => errors.every((error) => !check(toValue(error))));
  }

  #findChoice(one: Schema, keywords: Keywords, choices: Schema[], place: Place): ErrorValue | undefined {
    const { oneOf: _, anyOf: __, ...own } = keywords;
    const found = choices.map((choice) => this.find(flat({ ...own, allOf: [flat(choice)] }), place));
    const known = found.filter((value) => value !== undefined).sort((a, b) => a.assumed.length - b.assumed.length);
    return this.#firstFit(one, known, place);
  }

  #findScalar(one: Schema, keywords: Keywords, type: string | undefined, place: Place): ErrorValue | undefined {
    if (keywords.enum) return this.#findListed(one, keywords.enum, place);
    const found = this.#firstFit(one, valuesFor(keywords, type, place), place);
    if (found) return found;
    if (type === 'string' && !this.#isSaid && !place.isInProblem) {
      const said = this.#firstFit(one, messagesFor(keywords), place);
      this.#isSaid = said !== undefined;
      if (said) return { ...said, assumed: [`${place.at} is the message`] };
    }
    return this.#assume(one, keywords, place);
  }

  #findListed(one: Schema, values: unknown[], place: Place): ErrorValue | undefined {
    const listed = values.filter((value) => value !== null);
    if (!place.isInProblem) return toStatusTable(place.name, listed, this.#codes);
    const constants = listed.map((value) => toConstant(value));
    return this.#firstFit(one, [...textsFor(place.name, {}, [], true), ...constants], place);
  }

  /** Chooses the value of a field of unknown meaning: its default, null, or a sample that fits. */
  #assume(one: Schema, keywords: Keywords, place: Place): ErrorValue | undefined {
    if (keywords.default !== undefined) return toConstant(keywords.default);
    const isNull = [keywords.type].flat().includes('null');
    const value = isNull ? null : toTyped(samples.ofSchema(one, 'writeOnly'), one, flat);
    const others = { isKnown: false, assumed: isNull ? [] : [`${place.at} is ${JSON.stringify(value, toJson)}`] };
    return value === undefined ? undefined : this.#firstFit(one, [toConstant(value, others)], place);
  }

  #findObject(one: Schema, keywords: Keywords, place: Place): ErrorValue | undefined {
    const { properties = {}, required = [], additionalProperties } = keywords;
    const others = Object.keys(properties);
    const names = [...new Set([...others, ...required])];
    if (names.length === 0) return this.#findMap(one, additionalProperties ?? true, place);
    const fields = names.flatMap((name) => {
      const field = properties[name] ?? additionalProperties ?? true;
      const isNeeded = required.includes(name) || keywordsOf(field).default !== undefined;
      const inside = { ...place, name, at: `${place.at}.${name}`, others, around: [...place.around, keywords] };
      const value = this.find(field, inside);
      const isWritten = isNeeded || (value?.isKnown && (this.#keepsAssumed || isMeant(name, field, value)));
      return value && isWritten ? [{ name, value, isNeeded }] : [];
    });
    return this.#firstFit(one, [joinFields(fields)], place);
  }

  /**
   * Finds the value of an object with the places of problems as keys: `{ field: [message] }` or `{ field: message }`.
   */
  #findMap(one: Schema, each: Schema, place: Place): ErrorValue | undefined {
    const { type } = flat(each);
    const isMapped = isProblems(place.name) && !place.isInProblem && (type === 'string' || type === 'array');
    const empty = toConstant({}, { isKnown: false });
    return this.#firstFit(one, isMapped ? [toMap(type === 'string'), empty] : [empty], place);
  }

  #findList(one: Schema, keywords: Keywords, place: Place): ErrorValue | undefined {
    const { items = true, minItems = 0, maxItems } = keywords;
    const isProblem = isProblems(place.name) && !place.isInProblem;
    const around = [...place.around, keywords];
    const inProblem = { ...place, isInProblem: true, around, others: [] };
    const item = isProblem ? (this.#findMessage(items, inProblem) ?? this.find(items, inProblem)) : undefined;
    const single = minItems > 0 || !isProblem || !this.#isSaid ? this.find(items, { ...place, around }) : undefined;
    const values = [
      ...(item?.isKnown ? [toList(item, single, maxItems)] : []),
      ...(single && (single.isKnown || minItems > 0) ? [listOf(single)] : []),
      toConstant([], { isKnown: false }),
    ];
    return this.#firstFit(one, values, place);
  }

  /** Finds the value of a list of texts: the messages of the problems. */
  #findMessage(items: Schema, place: Place): ErrorValue | undefined {
    return this.#firstFit(items, flat(items).type === 'string' ? textsFor('message', {}, [], true) : [], place);
  }
}

/** Returns the values that a field can have according to its name and type. */
function valuesFor(
  keywords: Keywords,
  type: string | undefined,
  { name, at, others, isInProblem }: Place,
): ErrorValue[] {
  if (type === 'boolean') return booleansFor(name);
  if (type === 'integer' || type === 'number') return numbersFor(name, keywords, isInProblem);
  return at === 'body' ? messagesFor(keywords) : textsFor(name, keywords, others, isInProblem);
}

/** Makes an object with a field for each problem. The field is named after the problem's place. */
function toMap(isText: boolean): ErrorValue {
  const value = isText ? code`problem.message` : code`[problem.message]`;
  const toCode = (list: CheckedCode) => code`Object.fromEntries(${list}.map((problem) => [problem.place, ${value}]))`;
  const toValue = ({ problems = [] }: Told) =>
    Object.fromEntries(problems.map(({ place, message }) => [place, isText ? message : [message]]));
  return toErrorValue(toCode(code`(problems ?? [])`), ['problems'], toValue, { ofProblems: toCode(code`problems`) });
}

/** True if the meaning of an optional field is known, so that the field is written. */
const isMeant = (name: string, field: Schema, { assumed, uses }: ErrorValue): boolean =>
  assumed.every((one) => one.endsWith('is the message')) &&
  (uses.length > 0 || isProblems(name) || ['string', 'boolean'].includes(String(flat(field).type)));

const toJson = (_: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value);

type Field = { name: string; value: ErrorValue; isNeeded: boolean };

/** Merges the properties of several values for the object or list that contains them. */
function withAll(values: ErrorValue[]): Partial<ErrorValue> {
  return {
    isKnown: values.some(({ isKnown }) => isKnown),
    assumed: values.flatMap(({ assumed }) => assumed),
    constants: new Map(values.flatMap(({ constants }) => [...constants])),
    hasPhrases: values.some(({ hasPhrases }) => hasPhrases),
  };
}

/** Makes an object of these fields. Without problems, the object omits an optional list of problems. */
function joinFields(fields: Field[]): ErrorValue {
  const isSpread = ({ value, isNeeded }: Field) => !isNeeded && value.ofProblems !== undefined;
  const plain = fields.filter((field) => !isSpread(field)).map(({ name, value }) => [name, value.code] as const);
  const spread = fields
    .filter(isSpread)
    .map(({ name, value }) => code`...(problems && ${toObjectLiteral([[name, value.ofProblems as CheckedCode]])})`);
  const made = toObjectLiteral(plain, spread);
  const values = fields.map(({ value }) => value);
  const toValue = (error: Told) =>
    Object.fromEntries(
      fields
        .filter((field) => !isSpread(field) || error.problems !== undefined)
        .map(({ name, value }) => [name, value.toValue(error)]),
    );
  const uses = values.flatMap((value) => value.uses);
  return toErrorValue(made, [...new Set(uses)], toValue, withAll(values));
}

const listOf = (single: ErrorValue): ErrorValue =>
  toErrorValue(code`[${single.code}]`, single.uses, (error) => [single.toValue(error)], withAll([single]));

/**
 * Makes a list with an item for each problem. Without problems, the list contains `single`, or is empty if `single` is
 * undefined.
 */
function toList(item: ErrorValue, single: ErrorValue | undefined, most: number | undefined): ErrorValue {
  const each = item.code.text.startsWith('{') ? code`(${item.code})` : item.code;
  const cut = most === undefined ? code`` : code`.slice(0, ${most})`;
  const map = code`.map((problem) => ${each})${cut}`;
  const listed = single ? code`problems?${map} ?? [${single.code}]` : code`(problems ?? [])${map}`;
  const toValue = (error: Told) => {
    const items = error.problems?.map((problem) => item.toValue({ ...error, problem }));
    return items?.slice(0, most) ?? (single ? [single.toValue(error)] : []);
  };
  const values = single ? [item, single] : [item];
  const uses = ['problems', ...item.uses, ...(single?.uses ?? [])];
  return toErrorValue(listed, uses, toValue, {
    ...withAll(values),
    ...(!single && { ofProblems: code`problems${map}` }),
  });
}
