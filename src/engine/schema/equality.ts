/** Keywords for ajv that compare whole values (JSON Schema 2020-12, Core, section 4.2.2), each in the time that it takes to read them once. */
import { _, type KeywordDefinition } from 'ajv/dist/2020.js';

/** In place of `enum` and `const` with more than small scalars: ajv's own finds no object without a prototype equal, and no bigint. */
export const equals: KeywordDefinition = {
  keyword: 'equals',
  schemaType: 'array',
  errors: false,
  compile: (allowed: unknown[]) => (value: unknown) => allowed.some((other) => isEqual(other, value)),
  error: { message: 'must be one of', params: ({ schemaCode }) => _`{ allowedValues: ${schemaCode} }` },
};

/** Looks at no more of `value` than there is of `other`. */
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

/** Equal values have equal keys. What is within an object is looked at once in a run, however many lists it is in. */
export class CanonicalKeys {
  /** Of objects and arrays; and their names, by the keys of what they have. */
  readonly #known = new Map<object, string>();
  readonly #names = new Map<string, string>();

  /** ajv's own compares each item with every other one, and no objects without a prototype. */
  readonly uniqueItems: KeywordDefinition = {
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: false,
    compile: (isAsked: boolean) => (items: unknown[]) => !isAsked || this.#areUnique(items),
    error: { message: 'must not have the same item twice' },
  };

  /** At the end of a run. */
  forget(): void {
    if (this.#known.size === 0) return;
    this.#known.clear();
    this.#names.clear();
  }

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
    this.#names.set(text, key);
    this.#known.set(value, key);
    return key;
  }
}
