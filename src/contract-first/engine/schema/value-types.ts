/** The types that a schema allows. */
import { type Keywords, keywordsOf, type Schema } from './json.ts';

/** The types of values that are written as text. */
const TYPES = ['string', 'integer', 'number', 'boolean'];

export const isSimple = (schema: Schema): boolean => typesOf(schema).every((type) => TYPES.includes(type));

/** Whether the schema allows arrays of simple values; it may allow simple values, too. */
export function isList(schema: Schema): boolean {
  const types = typesOf(schema);
  const others = types.filter((type) => type !== 'array');
  const items = itemsOf(schema);
  return (
    others.length < types.length &&
    others.every((type) => TYPES.includes(type)) &&
    items !== undefined &&
    isSimple(items)
  );
}

/** The schema of the items of arrays; undefined if items have schemas by position (`prefixItems`). */
export function itemsOf(schema: Schema): Schema | undefined {
  const all = partsOf(schema);
  const items = all.flatMap(({ items: own }): Schema[] => (own === undefined ? [] : [own]));
  if (all.some(({ prefixItems }) => prefixItems)) return undefined;
  return items.length > 1 ? { anyOf: items } : (items[0] ?? {});
}

/** A schema, and the schemas in it that describe the same value. */
function partsOf(schema: Schema): Keywords[] {
  const keywords = keywordsOf(schema);
  const { allOf = [], anyOf = [], oneOf = [] } = keywords;
  return [keywords, ...[...allOf, ...anyOf, ...oneOf].flatMap(partsOf)];
}

/** The types that a value may have; string, if its schema has none. */
export function typesOf(schema: Schema): string[] {
  const types = [...new Set(saidTypes(schema))].filter((type) => type !== 'null');
  return types.length > 0 ? types : ['string'];
}

function saidTypes(schema: Schema): string[] {
  const { type, properties, enum: values = [], allOf = [], anyOf = [], oneOf = [] } = keywordsOf(schema);
  const parts = [...allOf, ...anyOf, ...oneOf].flatMap(saidTypes);
  const own = [type ?? (properties ? 'object' : [])].flat();
  return own.length + parts.length > 0 ? [...own, ...parts] : values.map((value) => typeof value);
}
