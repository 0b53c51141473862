/** ajv keywords that take time linear in the size of the value, unlike the keywords of ajv that they replace. */
import { _, type CodeKeywordDefinition, type KeywordDefinition, str } from 'ajv/dist/2020.js';
import names from 'ajv/dist/compile/names.js';
import { Type } from 'ajv/dist/compile/util.js';

/**
 * After this number of errors, no more items are checked. The number is higher than MAX_PROBLEMS, because `anyOf` or
 * `if` reports several errors for a single problem.
 */
export const MAX_ERRORS = 100;

/**
 * The keyword `untilMaxErrors: schema` checks an item or a field with `schema`, but only if fewer than MAX_ERRORS
 * errors were found before. A value may contain very many items.
 */
export const untilMaxErrors: CodeKeywordDefinition = {
  keyword: 'untilMaxErrors',
  schemaType: 'object',
  code: (cxt) => {
    const valid = cxt.gen.name('valid');
    cxt.gen.if(_`${names.default.errors} < ${MAX_ERRORS}`, () => cxt.subschema({ keyword: 'untilMaxErrors' }, valid));
  },
};

/**
 * Replaces ajv's `contains`, which takes quadratic time: it keeps an error for each item that does not match, and
 * copies all errors for the next item.
 */
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

/**
 * Replaces `enum` and `const` if they contain objects or large numbers: ajv's own keywords fail for bigint, and for
 * objects without a prototype.
 */
export const equals: KeywordDefinition = {
  keyword: 'equals',
  schemaType: 'array',
  errors: false,
  compile: (allowed: unknown[]) => (value: unknown) => allowed.some((other) => isEqual(other, value)),
  error: { message: 'must be one of', params: ({ schemaCode }) => _`{ allowedValues: ${schemaCode} }` },
};

/**
 * Compares two JSON values. The comparison ends at the first difference, so it never reads more of `value` than `other`
 * contains.
 */
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

/**
 * Functions that are called at the end of each validation, to clear cached results, because these results belong to the
 * objects of one validation.
 */
export type AtEnd = (() => void)[];

/** Gives equal values the same key. An object is read only once in a validation, even if several lists contain it. */
export class CanonicalKeys {
  /**
   * The key of each object and array that was read. `#names` maps the text of an object's contents to its key, so that
   * equal objects get the same key.
   */
  readonly #known = new Map<object, string>();
  readonly #names = new Map<string, string>();
  readonly #atEnd: AtEnd;

  constructor(atEnd: AtEnd) {
    this.#atEnd = atEnd;
  }

  /**
   * Replaces ajv's `uniqueItems`, which takes quadratic time because it compares all pairs of items, and which throws
   * for objects without a prototype.
   */
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
