/** Finds all meaningful edits of a contract: it walks through everything but the documentation. */
import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../any-json.ts';
import { EDITS, type Kind } from './edits.ts';

/** A contract with one edit. */
export interface Mutant {
  /** The place of the edit, such as `components.schemas.PetName`. */
  place: string;
  /** Mutants of the same kind differ only by place and value. */
  kind: string;
  /** The edit in words, such as `maxLength raised: 256`. */
  edit: string;
  build(): Json;
}

/** The kind of node under each key. The next table has the keys whose values contain several nodes of a kind. */
const KINDS: Record<string, Kind> = {
  info: 'info',
  components: 'components',
  requestBody: 'body',
  schema: 'schema',
  items: 'schema',
  ...{ get: 'operation', put: 'operation', post: 'operation', delete: 'operation', patch: 'operation' },
};
const KINDS_WITHIN: Record<string, Kind> = {
  paths: 'path',
  parameters: 'parameter',
  responses: 'response',
  headers: 'header',
  content: 'media',
  links: 'link',
  examples: 'example',
  schemas: 'schema',
  properties: 'schema',
  securitySchemes: 'scheme',
};

export function mutantsOf(contract: Json): Mutant[] {
  return [...walk(contract, 'contract', contract, '', (edited) => edited)];
}

/** The first mutant of each kind. */
export function oneOfEach(mutants: Mutant[]): Mutant[] {
  return [...new Map(mutants.toReversed().map((mutant) => [mutant.kind, mutant])).values()].reverse();
}

/**
 * The edits of a node and of all nodes in it. `build` makes a whole contract with another value in place of the node.
 */
function* walk(
  node: Json,
  kind: Kind,
  contract: Json,
  place: string,
  build: (edited: Json) => Json,
): Generator<Mutant> {
  if (typeof node !== 'object') return;
  for (const [key, changes] of Object.entries(node.$ref ? { $ref: EDITS.reference.$ref } : EDITS[kind])) {
    const value = key === '' ? node : node[key];
    for (const [index, values] of changes(value, node, contract).entries()) {
      for (const edited of values) {
        const words = `${key} ${verb(value, edited)}`.trim();
        yield {
          place: place || 'contract',
          kind: `${kind} ${words} ${index}`,
          edit: edited === undefined ? words : `${words}: ${describe(value, edited)}`,
          build: () => structuredClone(build(key === '' ? edited : put(node, key, edited))),
        };
      }
    }
  }
  if (node.$ref) return;
  for (const [key, child] of Object.entries<Json>(node)) {
    const at = place ? `${place}.${key}` : key;
    const rebuild = (edited: Json) => build(put(node, key, edited));
    if (KINDS[key]) yield* walk(child, KINDS[key], contract, at, rebuild);
    const within = KINDS_WITHIN[key];
    if (!within) continue;
    for (const [name, item] of Object.entries<Json>(child)) {
      yield* walk(item, within, contract, `${at}.${item.name ?? name}`, (edited) => rebuild(put(child, name, edited)));
    }
  }
}

/** The node with another value under this key, at the same position. */
function put(node: Json, key: string, value: Json): Json {
  if (Array.isArray(node)) return node.with(Number(key), value);
  const { [key]: _, ...rest } = node;
  return value === undefined ? rest : { ...node, [key]: value };
}

function verb(value: Json, edited: Json): string {
  if (value === undefined) return 'added';
  if (edited === undefined) return 'removed';
  if (typeof value !== 'number' || typeof edited !== 'number') return 'changed';
  return edited > value ? 'raised' : 'lowered';
}

/** The new value; for an object or a list, only the parts that differ. */
function describe(value: Json, edited: Json): string {
  if (typeof value !== 'object' || typeof edited !== 'object') return show(edited);
  const [before, after] = [toParts(value), toParts(edited)];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const differing = keys.filter((key) => !isDeepStrictEqual(before[key], after[key]));
  return differing.map((key) => `${key} ${describe(before[key], after[key])}`).join(', ');
}

/** Turns a list into an object whose keys are the items as texts, so that unchanged items are equal. */
const toParts = (node: Json) =>
  Array.isArray(node) ? Object.fromEntries(node.map((item) => [show(item), 'added'])) : node;

function show(value: Json): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'removed');
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
