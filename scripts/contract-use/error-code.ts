/** The text of a function that fills the schema of one error reply, such as that of RFC 9457. */
import type { Reply } from '../../src/engine/contract/contract.ts';
import type { BuildCheck, Check } from '../../src/engine/schema/checks.ts';
import { type Keywords, keywordsOf, type Schema } from '../../src/engine/schema/json.ts';
import { targetOf } from '../../src/engine/schema/recursion.ts';
import { mergeAllOf } from '../../src/engine/schema/subsets.ts';

const STATUS = /^(http)?_?(status|code|status_?code|error_?code|errno)$/i;
const CODE = /^(error_?)?(code|type|id|key|name|slug|kind|title)$|^error$/i;
const MESSAGE = /message|detail|description|text|reason|summary|msg/i;
const DONE = /^(success|succeeded|ok)$/i;
const REQUEST_ID = /^(x.)?(request|trace|correlation|transaction|log).?id$/i;

/** The words of codes, by their status; the last are of any status. Only the team knows its codes: the file begins with the nearest. */
const MEANINGS: [words: RegExp, status?: number][] = [
  [/bad_?request|invalid_?request|invalid/i, 400],
  [/unauth|token|credential/i, 401],
  [/forbidden|denied|insufficient/i, 403],
  [/not_?found/i, 404],
  [/too_?many|rate_?limit|throttl/i, 429],
  [/internal|unknown|unexpected|general|server_?error/i],
];

/** How deep the objects of an error are at most. */
const DEEPEST = 8;

/** A value of an error, as TypeScript; its fields, where it is an object. */
type Code = string | [name: string, value: Code][];

interface Filled {
  code: Code;
  /** The fields of which it is not known what is true. */
  open: string[];
}

/** Marks a part of the error in a text: no literal has such a character. */
const MARK = '\u0001';
const [CODE_OF, MESSAGE_OF, STATUS_OF, REQUEST_ID_OF] = ['code', 'message', 'status', 'requestId'].map(
  (name) => MARK + name,
) as [string, string, string, string];

/** `const NAME = ({ code }: OwnError): OwnErrorBody => ({ error: code });`, with a comment that says what is to be decided. */
export function toErrorCode({ status, schema }: Reply, buildCheck: BuildCheck): string {
  const filler = new Filler(status, buildCheck);
  const { code, open } = filler.fill(schema, '', DEEPEST) ?? { code: ANY, open: [] };
  const text = toSource(code, '');
  const used = new Set(text.match(new RegExp(`(?<=${MARK})\\w+`, 'g')));
  const comment = open.length > 0 ? `// To be decided: ${[...new Set(open)].map(quoted).join(', ')}.\n` : '';
  const given = used.size > 0 ? `{ ${[...used].join(', ')} }: OwnError` : '';
  const made = `const NAME = (${given}): OwnErrorBody => ${typeof code === 'string' ? code : `(${text})`};\n`;
  return comment + made.replaceAll(MARK, '');
}

const ANY: Code = [
  ['code', CODE_OF],
  ['message', MESSAGE_OF],
  ['status', STATUS_OF],
];

function toSource(code: Code, indent: string): string {
  if (typeof code === 'string') return code;
  const fields = code.map(([name, value]) => {
    const text = toSource(value, `${indent}  `);
    if (text === MARK + name) return text;
    return `${/^[A-Za-z_$][\w$]*$/.test(name) && name !== '__proto__' ? name : `[${quoted(name)}]`}: ${text}`;
  });
  const line = `{ ${fields.join(', ')} }`;
  if (line.length + indent.length < 70 && !line.includes('\n')) return fields.length > 0 ? line : '{}';
  return `{\n${fields.map((field) => `${indent}  ${field},\n`).join('')}${indent}}`;
}

export const quoted = (text: string) =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
const literal = (value: unknown) => (typeof value === 'string' ? quoted(value) : JSON.stringify(value));

/** The parts of `allOf` in one; a field or an item that several of them describe is all that they say. */
function toWhole(schema: Schema): Keywords {
  const flat = mergeAllOf(targetOf(schema) ?? schema);
  const parts = partsOf(schema);
  const closed = parts.filter((part) => part.additionalProperties === false && !part.patternProperties);
  const names = Object.keys(flat.properties ?? {}).filter((name) =>
    closed.every((part) => fieldOf(part, name).length > 0),
  );
  const fields = names.map((name) => [name, allOf(parts.flatMap((part) => fieldOf(part, name)))]);
  const items = parts.flatMap(({ items }) => (items === undefined ? [] : [items]));
  return { ...flat, properties: Object.fromEntries(fields), ...(items.length > 0 && { items: allOf(items) }) };
}

const allOf = (schemas: Schema[]): Schema => (schemas.length === 1 ? (schemas[0] as Schema) : { allOf: schemas });

const fieldOf = ({ properties = {} }: Keywords, name: string): Schema[] =>
  Object.hasOwn(properties, name) ? [properties[name] as Schema] : [];

function partsOf(schema: Schema): Keywords[] {
  const keywords = keywordsOf(targetOf(schema) ?? schema);
  return [keywords, ...(keywords.allOf ?? []).flatMap(partsOf)];
}

class Filler {
  readonly #status: number;
  readonly #buildCheck: BuildCheck;
  /** Whether something says the message already. */
  #isTold = false;

  constructor(status: string, buildCheck: BuildCheck) {
    this.#status = Number(status);
    this.#buildCheck = buildCheck;
  }

  #checkOf(schema: Schema): Check {
    return this.#buildCheck(schema, { name: 'it', at: '/it' }, () => {});
  }

  /** Undefined where nothing is known that fits. */
  fill(schema: Schema = {}, name: string, depth: number): Filled | undefined {
    if (schema === false || depth === 0) return undefined;
    const { oneOf, anyOf, ...whole } = toWhole(schema);
    const alternatives = oneOf ?? anyOf ?? [{}];
    const isTold = this.#isTold;
    const filled: Filled[] = [];
    for (const one of alternatives) {
      this.#isTold = isTold;
      const made = this.#fillOne(toWhole({ allOf: [one, whole] }), name, depth);
      if (made?.open.length === 0) return made;
      if (made) filled.push(made);
    }
    return filled[0];
  }

  #fillOne(schema: Keywords, name: string, depth: number): Filled | undefined {
    const { const: only, enum: values = 'const' in schema ? [only] : undefined, 'x-extensible-enum': codes } = schema;
    const listed = values ?? codes;
    if (listed) return this.#fillEnum(listed, name);
    const types = [schema.type ?? typeOf(schema, name)].flat();
    if (types.includes('object')) return this.#fillObject(schema, name, depth);
    if (types.includes('array')) return this.#fillArray(schema, name, depth);
    if (types.includes('string')) return this.#fillText(schema, name);
    if (types.includes('integer') || types.includes('number')) return this.#fillNumber(schema, name);
    if (types.includes('boolean')) return { code: `${!DONE.test(name)}`, open: [] };
    return { code: 'null', open: [] };
  }

  #fillEnum(values: unknown[], name: string): Filled {
    // Codes of this server, and of the team beside them.
    if (values.includes('invalid_request')) return { code: CODE_OF, open: [] };
    const ofStatus = values.find((value) => value === this.#status);
    const meanings = MEANINGS.filter(([, status = this.#status]) => status === this.#status);
    const near = meanings.flatMap(([words]) => values.filter((value) => words.test(String(value))));
    const value = [ofStatus, ...near, ...values].find((one) => one !== undefined);
    return {
      code: value === null ? 'null' : `${literal(value)} as const`,
      open: values.length === 1 || ofStatus !== undefined ? [] : [name],
    };
  }

  #fillObject(schema: Keywords, name: string, depth: number): Filled | undefined {
    const { properties = {}, required: named = [], additionalProperties = {} } = schema;
    // To the compiler, a field with a default is always there.
    const required = [...named, ...Object.keys(properties).filter((field) => hasDefault(properties[field]))];
    if (name === '' && Object.keys(properties).length === 0 && required.length === 0) {
      if (Object.keys(keywordsOf(additionalProperties)).length === 0)
        return { code: additionalProperties === false ? [] : ANY, open: [] };
      return { code: [['message', MESSAGE_OF]], open: [] };
    }
    const names = new Set<string>([
      ...Object.keys(properties).sort((a, b) => Number(MESSAGE.test(b)) - Number(MESSAGE.test(a))),
      ...required,
    ]);
    const filled = new Map<string, Filled | undefined>();
    for (const field of names) {
      const inside = Object.hasOwn(properties, field) ? properties[field] : keywordsOf(additionalProperties);
      if (required.includes(field) || isTelling(field, inside)) filled.set(field, this.fill(inside, field, depth - 1));
    }
    if (required.some((field) => !filled.get(field))) return undefined;
    const known = [...names].filter((field) => {
      const one = filled.get(field);
      return one && (required.includes(field) || one.open.length === 0);
    });
    const first =
      known.length > 0 ? undefined : Object.keys(properties).find((field) => this.#isFree(properties[field]));
    if (first !== undefined) return { code: [[first, MESSAGE_OF]], open: [] };
    const order = [...Object.keys(properties), ...required];
    known.sort((a, b) => order.indexOf(a) - order.indexOf(b));
    return {
      code: known.map((field): [string, Code] => [field, (filled.get(field) as Filled).code]),
      open: known.flatMap((field) => (filled.get(field) as Filled).open),
    };
  }

  #isFree(schema: Schema = {}): boolean {
    const { type, enum: values, format, pattern, maxLength } = mergeAllOf(targetOf(schema) ?? schema);
    return type === 'string' && !values && !format && !pattern && !maxLength;
  }

  #fillArray({ items, minItems = 0 }: Keywords, name: string, depth: number): Filled | undefined {
    const item = this.fill(items, name, depth - 1);
    if (item && (item.open.length === 0 || minItems > 0))
      return { code: `[${toSource(item.code, '  ')}]`, open: item.open };
    return minItems > 0 ? undefined : { code: '[]', open: [] };
  }

  #fillText(schema: Keywords, name: string): Filled | undefined {
    const check = this.#checkOf(schema);
    const fits = (...texts: string[]) => !texts.some(check);
    const { minLength = 0, maxLength = Infinity, format = '' } = schema;
    const message = minLength > 1 ? `${MESSAGE_OF}.padEnd(${minLength})` : MESSAGE_OF;
    const bounded = maxLength < 8192 ? `[...${message}].slice(0, ${maxLength}).join('')` : message;
    const words = 'a'.repeat(Math.max(minLength, Math.min(maxLength, 40)));
    const isFree = fits(words, words.replace(/a/g, '.'));
    if (format === 'date-time') return { code: 'new Date().toISOString()', open: [] };
    if (format.startsWith('uri') && fits('about:blank')) return { code: "'about:blank'", open: [] };
    if (isFree && REQUEST_ID.test(name)) return { code: REQUEST_ID_OF, open: [] };
    if (isFree && (name === '' || MESSAGE.test(name))) {
      this.#isTold = true;
      return { code: bounded, open: [] };
    }
    if (/status/i.test(name) && fits('400', '503')) return { code: `String(${STATUS_OF})`, open: [] };
    if (CODE.test(name) && fits('invalid_request', 'http_version_not_supported', 'gone'))
      return { code: CODE_OF, open: [] };
    if (isFree && !this.#isTold) {
      this.#isTold = true;
      return { code: bounded, open: [] };
    }
    const sample = [...samplesOf(schema), '', ...SAMPLES, words].find((text) => typeof text === 'string' && fits(text));
    return sample === undefined ? undefined : { code: quoted(sample as string), open: [name] };
  }

  #fillNumber(schema: Keywords, name: string): Filled | undefined {
    const check = this.#checkOf(schema);
    const isInt64 = schema.format === 'int64' && [schema.type].flat().includes('integer');
    const fits = (value: number) => !check(isInt64 ? BigInt(value) : value);
    if (STATUS.test(name) && fits(400) && fits(507))
      return { code: isInt64 ? `BigInt(${STATUS_OF})` : STATUS_OF, open: [] };
    const { minimum, maximum, multipleOf } = schema;
    const sample = [...samplesOf(schema), 0, 1, minimum, maximum, multipleOf].find(
      (value) => typeof value === 'number' && Number.isSafeInteger(value) && fits(value),
    );
    return sample === undefined ? undefined : { code: `${sample}${isInt64 ? 'n' : ''}`, open: [name] };
  }
}

/** Of a schema that does not say it; an error itself is an object. */
function typeOf({ properties = {}, required = [], additionalProperties, items }: Keywords, name: string): string {
  if (Object.keys(properties).length > 0 || required.length > 0 || additionalProperties) return 'object';
  return items ? 'array' : name === '' ? 'object' : 'string';
}

const SAMPLES = [
  ...[
    '00000000-0000-0000-0000-000000000000',
    '1970-01-01',
    '00:00:00Z',
    'P0D',
    '0',
    '000',
    '400',
    'E',
    'ERR',
    'ERROR',
    'error',
  ],
  ...[
    'E0',
    'E000',
    'a',
    'A',
    'AA',
    'AAA',
    'en',
    'en-US',
    'nobody@example.com',
    'example.com',
    '127.0.0.1',
    '::1',
    '/',
    '/a',
  ],
];

const samplesOf = ({ example, examples = [], default: usual }: Keywords): unknown[] => [
  usual,
  example,
  ...Object.values(examples),
];

const hasDefault = (schema: Schema | undefined) => toWhole(schema as Schema).default !== undefined;

/** A link or a time that need not be there is left out. */
const isTelling = (name: string, schema: Schema | undefined) =>
  !keywordsOf(schema).format &&
  [STATUS, CODE, MESSAGE, DONE, REQUEST_ID, /^errors?$/i].some((known) => known.test(name));
