/** Closes the schemas of replies: an object may contain only fields that its schema names, and no write-only fields. */

// biome-ignore lint/suspicious/noExplicitAny: schemas of a contract that nobody has checked
type Json = any;

/**
 * `PARTS` lists keywords with subschemas that describe the same value. `INSIDE` lists keywords with subschemas that
 * describe its fields and items. The value of a keyword in `lists` is a list of schemas, in `maps` an object with
 * schemas by name, and in `single` one schema.
 */
const PARTS = { lists: ['allOf', 'anyOf', 'oneOf'], maps: ['dependentSchemas'], single: ['if', 'then', 'else'] };
const INSIDE = {
  lists: ['prefixItems'],
  maps: ['properties', 'patternProperties'],
  single: ['additionalProperties', 'items', 'contains', 'unevaluatedProperties', 'unevaluatedItems'],
};
const DEFINITIONS = { lists: [], maps: ['$defs', 'definitions'], single: [] };

const isNode = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/**
 * Yields the subschemas in the given keywords, each with its key and with the object or list that contains it.
 */
function* schemasAt(schema: Json, { lists, maps, single }: typeof PARTS): Generator<[holder: Json, key: string, Json]> {
  const holders = [...lists, ...maps].map((keyword) => schema[keyword]).filter(isNode);
  for (const holder of holders) for (const [key, one] of Object.entries(holder)) yield [holder, key, one];
  for (const keyword of single) if (isNode(schema[keyword])) yield [schema, keyword, schema[keyword]];
}

export class ClosedSchemas {
  readonly #document: Json;
  readonly #all = new Set<Json>();
  /**
   * Schemas of a field that several subschemas of the same schema describe. These schemas are not closed, because each
   * of them may name only some of the field's own fields.
   */
  readonly #shared = new Set<Json>();

  readonly #isOpen: boolean;

  /**
   * Closes the schemas in the document itself, not in a copy. If `isOpen` is true, objects may also contain fields that
   * their schema does not name, but no write-only fields.
   */
  constructor(document: Json, isOpen: boolean) {
    this.#document = document;
    this.#isOpen = isOpen;
    for (const schema of Object.values(document.components?.schemas ?? {})) this.#collect(schema);
    this.#findSchemas(document);
    const hidden: [properties: Json, name: string][] = [];
    for (const schema of this.#all) hidden.push(...this.#hide(schema));
    for (const [properties, name] of hidden) properties[name] = false;
    for (const schema of this.#all)
      for (const [holder, key, one] of schemasAt(schema, INSIDE))
        if (!this.#shared.has(one)) holder[key] = this.close(one);
  }

  /** Returns a schema that allows no other fields, if the given schema names fields. Otherwise returns it unchanged. */
  close(schema: Json): Json {
    return !this.#isOpen && this.#namesFields(schema) ? { unevaluatedProperties: false, ...schema } : schema;
  }

  #findSchemas(node: Json): void {
    if (!isNode(node)) return;
    if (isNode(node.schema)) this.#collect(node.schema);
    for (const value of Object.values(node)) this.#findSchemas(value);
  }

  #collect(schema: Json): void {
    if (!isNode(schema) || this.#all.has(schema)) return;
    this.#all.add(schema);
    for (const kind of [PARTS, INSIDE, DEFINITIONS])
      for (const [, , one] of schemasAt(schema, kind)) this.#collect(one);
  }

  /**
   * Returns the write-only fields of a schema, and removes their names from `required`. If several subschemas describe
   * the same field, adds their schemas of this field to `#shared`.
   */
  #hide(schema: Json): [properties: Json, name: string][] {
    const parts = this.#partsOf(schema);
    const fields = parts.flatMap(({ properties = {} }) =>
      Object.entries<Json>(properties).map(([name, field]) => ({ properties, name, field })),
    );
    for (const { name, field, properties } of fields)
      if (fields.some((other) => other.name === name && other.properties !== properties)) this.#shared.add(field);
    const hidden = fields.filter(({ field }) => this.#partsOf(field).some(({ writeOnly }) => writeOnly === true));
    const names = hidden.map(({ name }) => name);
    for (const part of parts) part.required = part.required?.filter((name: string) => !names.includes(name)) ?? [];
    return hidden.map(({ properties, name }) => [properties, name]);
  }

  /** Returns the schema, and all schemas that apply to the same value: by `$ref`, or by a keyword in `PARTS`. */
  #partsOf(schema: Json, found: Json[] = []): Json[] {
    if (!isNode(schema) || found.includes(schema)) return found;
    found.push(schema);
    this.#partsOf(this.#targetOf(schema), found);
    for (const [, , part] of schemasAt(schema, PARTS)) this.#partsOf(part, found);
    return found;
  }

  /** True if the schema names fields of an object. An object without named fields may contain any field. */
  #namesFields(schema: Json, around: Json[] = []): boolean {
    if (!isNode(schema) || around.includes(schema)) return false;
    const names = (part: Json) => this.#namesFields(part, [...around, schema]);
    const { properties, allOf = [], oneOf = [], anyOf = [] } = schema;
    const alternatives: Json[] = [...oneOf, ...anyOf];
    const isClosed = alternatives.some(names) && alternatives.every((one) => names(one) || this.#isNoObject(one));
    return properties !== undefined || allOf.some(names) || names(this.#targetOf(schema)) || isClosed;
  }

  #isNoObject(schema: Json): boolean {
    return this.#partsOf(schema).some(({ type }) => type !== undefined && ![type].flat().includes('object'));
  }

  #targetOf({ $ref }: Json): Json {
    if (typeof $ref !== 'string' || !/^(contract)?#\//.test($ref)) return undefined;
    const keys = decodeURI($ref.replace(/^[^/]*\//, '')).split('/');
    return keys.reduce((node, key) => node?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], this.#document);
  }
}
