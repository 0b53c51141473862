/** ajv keywords that compare whole values (JSON Schema 2020-12, Core, section 4.2.2) in linear time. */
import { _, type KeywordDefinition } from 'ajv/dist/2020.js';
import type { AtEnd } from './validator-cache.ts';

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

/** Gives equal values equal keys. Within one validation, each object is read once, however many lists contain it. */
export class CanonicalKeys {
  /** The keys of objects and arrays, and those keys by the text of their contents. */
  readonly #known = new Map<object, string>();
  readonly #names = new Map<string, string>();
  readonly #atEnd: AtEnd;

  constructor(atEnd: AtEnd) {
    this.#atEnd = atEnd;
  }

  /** Replaces ajv's `uniqueItems`, which compares each item with every other, and knows no objects without a prototype. */
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
