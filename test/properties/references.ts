/** The contract with references replaced, as far as the tests need it; without any code of `src/`. */
import type { Json } from './operations.ts';

/** How often a schema that refers to itself is within itself. */
const DEPTH = 2;

/** In place of what would go on for ever. */
const END = { 'x-end': true };
const isEnd = (node: Json) => node?.['x-end'] === true;

/** The node with what its references name in their places, and words beside a reference on top (OpenAPI 3.1, 4.8.24). */
export function resolve(node: Json, document: Json, open: string[] = []): Json {
  if (Array.isArray(node)) return node.map((item) => resolve(item, document, open));
  if (typeof node !== 'object' || node === null) return node;
  const { $ref, ...rest } = node;
  const entries = Object.entries(rest).map(([key, value]) => [key, resolve(value, document, open)]);
  const own = Object.fromEntries(entries);
  if (typeof $ref !== 'string') return withoutEnds(withTags(node, own));
  if (open.filter((other) => other === $ref).length >= DEPTH) return END;
  const keys = $ref.slice(2).split('/');
  const target = keys.reduce((parent, key) => parent[key.replaceAll('~1', '/').replaceAll('~0', '~')], document);
  return { ...resolve(target, document, [...open, $ref]), ...own };
}

/** An object without the fields, an array without the items and a choice without the alternatives that would go on. */
function withoutEnds(node: Json): Json {
  const { properties = {}, required = [], items, oneOf, anyOf } = node;
  const ended = Object.keys(properties).filter((name) => isEnd(properties[name]));
  if (ended.some((name) => required.includes(name))) return END;
  for (const name of ended) delete properties[name];
  if (isEnd(node.additionalProperties)) delete node.additionalProperties;
  if (isEnd(items)) return { type: node.type, 'x-empty': true };
  const alternatives: Json[] | undefined = oneOf ?? anyOf;
  const left = alternatives?.filter((alternative) => !isEnd(alternative));
  if (left?.length === 0) return END;
  return left ? { ...node, [oneOf ? 'oneOf' : 'anyOf']: left } : node;
}

/** Each alternative of a discriminator with its names (OpenAPI 3.1, section 4.8.25), where it does not have them itself. */
function withTags(source: Json, node: Json): Json {
  const { discriminator, oneOf } = node;
  if (!discriminator?.propertyName || !Array.isArray(oneOf)) return node;
  const { propertyName, mapping = {} } = discriminator;
  const tagged = oneOf.map((branch, index) => {
    const own = branch.properties?.[propertyName];
    const { $ref = '' } = source.oneOf[index];
    const mapped = Object.keys(mapping).filter((name) => mapping[name] === $ref);
    const names = mapped.length > 0 ? mapped : (own?.enum ?? [own?.const ?? $ref.split('/').at(-1)]);
    const properties = { ...branch.properties, [propertyName]: { type: 'string', enum: names } };
    return { ...branch, properties, required: [...new Set([...(branch.required ?? []), propertyName])] };
  });
  return { ...node, oneOf: tagged };
}

/** Without what only replies have: `x-read-only` has the fields that a request must not have. */
export function withoutReadOnly(node: Json): Json {
  if (Array.isArray(node)) return node.map(withoutReadOnly);
  if (typeof node !== 'object' || node === null) return node;
  const kept = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withoutReadOnly(value)]));
  const names = Object.keys(node.properties ?? {}).filter((name) => node.properties[name].readOnly === true);
  if (names.length === 0) return kept;
  kept['x-read-only'] = Object.fromEntries(names.map((name) => [name, kept.properties[name]]));
  for (const name of names) delete kept.properties[name];
  kept.required = (node.required ?? []).filter((name: string) => !names.includes(name));
  return kept;
}
