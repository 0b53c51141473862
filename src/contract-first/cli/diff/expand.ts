/**
 * Replaces each `$ref` of a contract by its target, and merges each `allOf`, so that moving a schema does not count as
 * a change.
 */
import { isDeepStrictEqual } from 'node:util';
import { isMap, isNode, type Keywords, keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { isData, isNames, lookUp } from '../../engine/schema/keys.ts';

/** The keys of values that are only documentation. */
export const DOCUMENTATION_KEYS = new Set([
  ...['title', 'summary', 'description', 'example', 'examples', 'externalDocs', '$comment', 'bearerFormat'],
]);

/** The key of an expanded schema under which it has its name in `components`. */
export const COMPONENT_NAME = 'name of the schema';

/** Matches keys outside of schemas whose value is a map by name, in addition to those of `isNames`. */
const NAMING = /^(paths|webhooks|variables)$/;

/** Keywords that depend on other keywords of the same schema. A merged schema would change their meaning. */
const COUPLED = ['if', 'then', 'else', 'contains', 'prefixItems', 'unevaluatedItems', 'patternProperties'];

/** Keywords that depend on the `allOf` of the same schema, and the keywords in `allOf` that they depend on. */
const SEEING = ['unevaluatedProperties', 'unevaluatedItems'];
const SEEN = 'properties additionalProperties unevaluatedProperties $ref allOf anyOf oneOf dependentSchemas'.split(' ');

export function expandContract<Contract extends object>(contract: Contract): Contract {
  function expand<Kind>(node: Kind, trail: string[]): Kind;
  function expand(node: unknown, trail: string[]): unknown {
    if (Array.isArray(node)) return node.map((item) => expand(item, trail));
    if (!isNode(node)) return node;
    const { $ref, allOf = [], ...rest }: Keywords = node;
    // In OpenAPI 3.0, an `allOf` with one subschema adds a description to a reference, so the schema keeps the name of
    // the subschema.
    const toPart = (part: Schema) => (allOf.length > 1 ? withoutName(part) : part);
    const parts = allOf.map((part) => toPart(expand(part, trail)));
    const whole = merge([...parts, expandEntries(rest, trail)]);
    return typeof $ref === 'string' ? merge([follow($ref, trail), whole]) : whole;
  }

  /**
   * Returns the target of a reference, expanded. Inside the target itself, the reference stays, because expanding would
   * not end.
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
      // `$ref` and `allOf` in data, such as examples, are ordinary names.
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
 * Merges the subschemas of an `allOf` into one schema that allows the same values. The last subschema consists of the
 * keywords next to `allOf`. Keywords that one schema cannot express stay in `allOf`.
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
 * True if a subschema keeps its meaning when the keywords of the others are next to its own. `own` is the subschema
 * with the keywords next to `allOf`, which already depend on the others.
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
