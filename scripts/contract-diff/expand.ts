/** A contract with every `$ref` and `allOf` replaced by what it stands for, so that rearranging it is no change. */
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import type { Json } from '../../src/contract/contract.ts';
import { lookUp } from '../../src/contract/references.ts';
import { WORDS } from './change.ts';

export type { Json };

/** Where a schema keeps the name that it had in `components`. */
export const NAME = 'x-name-of-the-schema';

/** Under these keys, the keys are names that the contract gives, and mean nothing in themselves. */
const NAMING = new Set(
  (
    'paths schemas responses parameters examples requestBodies headers securitySchemes links content variables ' +
    'properties patternProperties dependentSchemas $defs'
  ).split(' '),
);

/** Under these keys are values of clients, in which `$ref` and `allOf` are names like any other. */
const VALUES = new Set(['example', 'value', 'default', 'enum', 'const']);

const COUPLED = ['if', 'then', 'else', 'contains', 'prefixItems', 'unevaluatedItems', 'patternProperties'];

/** Integers become bigint: as doubles, two different large ones could be the same. */
export function expandContract(yaml: string): Json {
  const contract = parse(yaml, { intAsBigInt: true });

  function expand(node: Json, trail: string[]): Json {
    if (Array.isArray(node)) return node.map((item) => expand(item, trail));
    if (typeof node !== 'object' || node === null) return node;
    const { $ref, allOf, ...rest } = node;
    const whole = merge([
      ...(allOf ?? []).map((part: Json) => nameless(expand(part, trail))),
      expandEntries(rest, trail),
    ]);
    if (typeof $ref !== 'string') return whole;
    // A schema that contains itself is the same as before if it is the same down to where it begins again.
    return merge([
      trail.includes($ref) ? { $ref } : named(expand(targetOf(contract, $ref), [...trail, $ref]), $ref),
      whole,
    ]);
  }

  function expandEntries(node: Json, trail: string[]): Json {
    return mapValues(node, (value, key) => {
      if (VALUES.has(key) || (key === 'examples' && Array.isArray(value))) return value;
      if (!NAMING.has(key) || Array.isArray(value)) return expand(value, trail);
      return mapValues(value, (child) => expand(child, trail));
    });
  }

  return expandEntries(contract, []);
}

function targetOf(contract: Json, pointer: string): Json {
  const node = lookUp(contract, pointer);
  if (node === undefined) throw new Error(`The contract has nothing at ${pointer}.`);
  return node;
}

function named(node: Json, pointer: string): Json {
  const [, name] = pointer.match(/^#\/components\/schemas\/(.*)$/) ?? [];
  return name && node ? { ...node, [NAME]: name } : node;
}

function nameless(part: Json): Json {
  if (!part) return part;
  const { [NAME]: _name, ...rest } = part;
  return rest;
}

/** One schema that takes what all parts take. What cannot be said in one stays in `allOf`. */
function merge(parts: Json[]): Json {
  if (parts.includes(false)) return false;
  const filled = parts.filter((part) => Object.keys(part).length > 0);
  if (filled.length < 2) return filled[0] ?? {};
  if (!isMergeable(filled)) return { allOf: filled };
  const whole: Json = {};
  const rest: Json[] = [];
  for (const [key, value] of filled.flatMap((part) => Object.entries<Json>(part))) {
    if (!(key in whole) || WORDS.has(key)) whole[key] = value;
    else if (key === 'required') whole.required = [...new Set([...whole.required, ...value])];
    else if (key === 'properties') whole.properties = mergeProperties(whole.properties, value);
    else if (key === 'allOf') rest.push(...value);
    else if (!isDeepStrictEqual(whole[key], value)) rest.push({ [key]: value });
  }
  if (rest.length > 0) whole.allOf = [...(whole.allOf ?? []), ...rest];
  return whole;
}

function mergeProperties(some: Json, more: Json): Json {
  return {
    ...some,
    ...mapValues(more, (field, name) => (Object.hasOwn(some, name) ? merge([some[name], field]) : field)),
  };
}

/** Keywords that speak of others beside them, in their own part only, would say something else in a whole. */
function isMergeable(parts: Json[]): boolean {
  const others = (part: Json) => parts.filter((other) => other !== part);
  return parts.every((part) => {
    if (COUPLED.some((keyword) => keyword in part)) return false;
    const isScoped = 'additionalProperties' in part || ('unevaluatedProperties' in part && part !== parts.at(-1));
    return !isScoped || others(part).every((other) => !('properties' in other));
  });
}

function mapValues(node: Json, map: (value: Json, key: string) => Json): Json {
  return Object.fromEntries(Object.entries<Json>(node).map(([key, value]) => [key, map(value, key)]));
}
