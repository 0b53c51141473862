/**
 * Replaces each `$ref` of a contract by its target, and merges each `allOf`, so that moving a schema does not count as
 * a change.
 */
import { isDeepStrictEqual } from 'node:util';
import { isMap, isNode, type Keywords, keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { isData, isNames, lookUp } from '../../engine/schema/keys.ts';

/** Keys with values that are only documentation. */
export const DOCUMENTATION_KEYS = new Set([
  ...['title', 'summary', 'description', 'example', 'examples', 'externalDocs', '$comment', 'bearerFormat'],
]);

/** The key that keeps the name of an expanded schema in `components`. */
export const COMPONENT_NAME = 'name of the schema';

/** Matches keys, outside of schemas, for an object with names as keys. `isNames` knows the other keys of this kind. */
const NAMING = /^(paths|webhooks|variables)$/;

/**
 * Keywords that depend on other keywords of the same schema. Merging schemas would change the meaning of these
 * keywords.
 */
const COUPLED = ['if', 'then', 'else', 'contains', 'prefixItems', 'unevaluatedItems', 'patternProperties'];

/** Keywords of a schema that depend on the subschemas in its `allOf`. */
const SEEING = ['unevaluatedProperties', 'unevaluatedItems'];
/** The keywords in these subschemas that `SEEING` keywords depend on. */
const SEEN = 'properties additionalProperties unevaluatedProperties $ref allOf anyOf oneOf dependentSchemas'.split(' ');

export function expandContract<Contract extends object>(contract: Contract): Contract {
  function expand<Kind>(node: Kind, trail: string[]): Kind;
  function expand(node: unknown, trail: string[]): unknown {
    if (Array.isArray(node)) return node.map((item) => expand(item, trail));
    if (!isNode(node)) return node;
    const { $ref, allOf = [], ...rest }: Keywords = node;
    // An `allOf` with only one subschema keeps the name of this subschema. In OpenAPI 3.0, such an `allOf` is the way
    // to add a description to a reference.
    const toPart = (part: Schema) => (allOf.length > 1 ? withoutName(part) : part);
    const parts = allOf.map((part) => toPart(expand(part, trail)));
    const whole = merge([...parts, expandEntries(rest, trail)]);
    return typeof $ref === 'string' ? merge([follow($ref, trail), whole]) : whole;
  }

  /**
   * Returns the expanded target of a reference. A reference inside its own target is returned unchanged, because
   * expanding it would never end.
   */
  function follow($ref: string, trail: string[]): Schema {
    if (trail.includes($ref)) return { $ref };
    const target = lookUp(contract, $ref) as Schema | undefined;
    if (target === undefined) throw new Error(`The contract has nothing at ${$ref}.`);
    const node = expand(target, [...trail, $ref]);
    const [, name] = $ref.match(/^#\/components\/schemas\/(.*)$/) ?? [];
    return name && typeof node === 'object' ? { ...node, [COMPONENT_NAME]: name } : node;
  }

  function expandEntries(node: object, trail: string[]): Keywords {
    return mapValues({ ...node }, (value: unknown, key) => {
      // Values such as examples are not expanded, because `$ref` and `allOf` are ordinary names in them.
      if (isData(key, value)) return value;
      const hasNames = (isNames(key) || NAMING.test(key)) && isMap(value);
      return hasNames ? mapValues(value, (child) => expand(child, trail)) : expand(value, trail);
    });
  }

  return { ...contract, ...expandEntries(contract, []) };
}

function withoutName(part: Schema): Schema {
  const { [COMPONENT_NAME]: _name, ...rest } = keywordsOf(part);
  return part && rest;
}

/**
 * Merges the subschemas of an `allOf`, and the keywords next to it (the last of `parts`), into one schema that allows
 * the same values. If one schema cannot express some keywords, these remain in an `allOf`.
 */
function merge(parts: Schema[]): Schema {
  if (parts.includes(false)) return false;
  const all = parts.map(keywordsOf);
  const own = all.at(-1) as Keywords;
  const filled = all.filter((part) => Object.keys(part).length > 0);
  if (filled.length < 2) return filled[0] ?? {};
  if (!filled.every((part) => isMergeable(part, own, filled))) {
    if (!SEEING.some((key) => key in own)) return { allOf: filled };
    return { ...own, allOf: [...filled.filter((part) => part !== own), ...(own.allOf ?? [])] };
  }
  const whole: Keywords = {};
  const rest: Schema[] = [];
  for (const [key, value] of filled.flatMap((part) => Object.entries(part))) {
    if (!Object.hasOwn(whole, key) || DOCUMENTATION_KEYS.has(key)) whole[key] = value;
    else if (key === 'required')
      whole.required = [...new Set([...(whole.required as string[]), ...(value as string[])])];
    else if (key === 'properties') {
      const known = new Map(Object.entries(whole.properties as Record<string, Schema>));
      const fields = mapValues(value as Record<string, Schema>, (field, name) =>
        merge([known.get(name) ?? {}, field, {}]),
      );
      whole.properties = { ...whole.properties, ...fields };
    } else if (key === 'allOf') rest.push(...(value as Schema[]));
    else if (!isDeepStrictEqual(whole[key], value)) rest.push({ [key]: value });
  }
  if (rest.length > 0) whole.allOf = [...(whole.allOf ?? []), ...rest];
  return whole;
}

/**
 * True if the keywords of a subschema keep their meaning in a merged schema, next to the keywords of the other
 * subschemas. `own` consists of the keywords next to `allOf`, which already depend on all subschemas.
 */
function isMergeable(part: Keywords, own: Keywords, parts: Keywords[]): boolean {
  if (COUPLED.some((key) => key in part)) return false;
  const isBlind = 'unevaluatedProperties' in part && part !== own;
  if (!isBlind && !('additionalProperties' in part)) return true;
  const keys = isBlind ? SEEN : ['properties'];
  return parts.every((other) => other === part || !keys.some((key) => key in other));
}

function mapValues<Value, Made>(
  node: Record<string, Value>,
  map: (value: Value, key: string) => Made,
): Record<string, Made> {
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, map(value, key)]));
}
