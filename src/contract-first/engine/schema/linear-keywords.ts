/** ajv keywords that take linear time. */
import { _, type CodeKeywordDefinition, type KeywordDefinition, str } from 'ajv/dist/2020.js';
import names from 'ajv/dist/compile/names.js';
import { Type } from 'ajv/dist/compile/util.js';

/** How many errors are collected. Alternatives and conditions report several for one problem. */
export const MAX_ERRORS = 100;

/** `untilMaxErrors: schema` checks items or fields, which may be very many, until there are enough errors. */
export const untilMaxErrors: CodeKeywordDefinition = {
  keyword: 'untilMaxErrors',
  schemaType: 'object',
  code: (cxt) => {
    const valid = cxt.gen.name('valid');
    cxt.gen.if(_`${names.default.errors} < ${MAX_ERRORS}`, () => cxt.subschema({ keyword: 'untilMaxErrors' }, valid));
  },
};

/** Replaces ajv's `contains`, which keeps an error for each item that does not match, and copies all of them for the next. */
export const contains: CodeKeywordDefinition = {
  keyword: 'contains',
  type: 'array',
  schemaType: ['object', 'boolean'],
  trackErrors: true,
  error: {
    message: ({ params: { min, max } }) =>
      max === undefined
        ? str`must contain at least ${min} valid item(s)`
        : str`must contain at least ${min} and no more than ${max} valid item(s)`,
  },
  code: (cxt) => {
    const { gen, data, it } = cxt;
    const { minContains: min = 1, maxContains: max } = cxt.parentSchema;
    it.items = true;
    cxt.setParams({ min, max });
    const count = gen.let('count', 0);
    gen.forRange('i', 0, _`${data}.length`, (i) => {
      const valid = gen.name('valid');
      const item = { keyword: 'contains', dataProp: i, dataPropType: Type.Num };
      cxt.subschema({ ...item, compositeRule: true, createErrors: false, allErrors: false }, valid);
      cxt.reset();
      gen.if(valid, () => gen.code(_`${count}++`));
      gen.if(_`${count} >= ${max === undefined ? min : max + 1}`, () => gen.break());
    });
    cxt.pass(max === undefined ? _`${count} >= ${min}` : _`${count} >= ${min} && ${count} <= ${max}`);
  },
};

/** Replaces `enum` and `const` with objects or large numbers: ajv's own know no bigint, and no objects without a prototype. */
export const equals: KeywordDefinition = {
  keyword: 'equals',
  schemaType: 'array',
  errors: false,
  compile: (allowed: unknown[]) => (value: unknown) => allowed.some((other) => isEqual(other, value)),
  error: { message: 'must be one of', params: ({ schemaCode }) => _`{ allowedValues: ${schemaCode} }` },
};

/** Reads no more of `value` than `other` has. */
function isEqual(other: unknown, value: unknown): boolean {
  if (typeof other === 'number' && typeof value === 'bigint') return value >= other && value <= other;
  if (typeof other !== 'object' || other === null) return other === value;
  if (typeof value !== 'object' || value === null || Array.isArray(other) !== Array.isArray(value)) return false;
  const names = Object.keys(other);
  const values = value as Record<string, unknown>;
  const isSame = (name: string) =>
    Object.hasOwn(values, name) && isEqual((other as Record<string, unknown>)[name], values[name]);
  return names.length === Object.keys(values).length && names.every(isSame);
}

/** Called at the end of a validation, to forget its findings: the next one is about other objects. */
export type AtEnd = (() => void)[];

/** Gives equal values equal keys. In one validation, each object is read once, however many lists contain it. */
export class CanonicalKeys {
  /** The keys of objects and arrays, and those keys by the text of their contents. */
  readonly #known = new Map<object, string>();
  readonly #names = new Map<string, string>();
  readonly #atEnd: AtEnd;

  constructor(atEnd: AtEnd) {
    this.#atEnd = atEnd;
  }

  /** Replaces ajv's `uniqueItems`, which compares each item with every other, and fails on objects without a prototype. */
  readonly uniqueItems: KeywordDefinition = {
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: false,
    compile: (isAsked: boolean) => (items: unknown[]) => !isAsked || this.#areUnique(items),
    error: { message: 'must not have the same item twice' },
  };

  #areUnique(items: unknown[]): boolean {
    const keys = new Set<string>();
    return items.every((item) => keys.size < keys.add(this.#keyOf(item)).size);
  }

  #keyOf(value: unknown): string {
    if (typeof value === 'string') return JSON.stringify(value);
    if (typeof value !== 'object' || value === null) return String(value);
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const parts = Array.isArray(value)
      ? value.map((item) => this.#keyOf(item))
      : Object.entries(value)
          .map(([name, inside]) => `${JSON.stringify(name)}:${this.#keyOf(inside)}`)
          .sort();
    const text = `${Array.isArray(value)}${parts.join()}`;
    const key = this.#names.get(text) ?? `#${this.#names.size}`;
    if (this.#known.size === 0) this.#atEnd.push(() => this.#forget());
    this.#names.set(text, key);
    this.#known.set(value, key);
    return key;
  }

  #forget(): void {
    this.#known.clear();
    this.#names.clear();
  }
}
