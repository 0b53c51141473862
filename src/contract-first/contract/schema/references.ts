/** Replaces each `$ref` by its target, unless it refers to itself. Keywords beside the `$ref` of a schema count, too. */
import { isNode, type Keywords, type Refuse, type Schema } from '../../engine/schema/json.ts';
import { ANNOTATION, isData, isNames, lookUp } from '../../engine/schema/keys.ts';
import { isRecursion, toRecursion } from '../../engine/schema/subschemas.ts';
import { type Discriminated, discriminated } from './discriminator.ts';

/** Keywords that other code reads without searching `allOf`. */
const KIND = /^(type|format)$/;

/** Returns the node with all references replaced. `Kind` is the type of the node. */
export type Resolve = <Kind>(node: Kind, refuse: Refuse) => Kind;

const known = new WeakMap<object, Resolve>();

/** There is one for each document: what a record and a reply both refer to is one object. */
export function resolveOf(document: object): Resolve {
  const resolve = known.get(document) ?? buildResolve(document);
  known.set(document, resolve);
  return resolve;
}

/** Equal references resolve to the same object, so that it is compiled once. */
export function buildResolve(document: unknown): Resolve {
  const targets = new Map<string, Schema>();
  /** A problem in each target: all operations that use it are refused. */
  const faults = new Map<string, string>();
  const open = new Set<string>();

  return function resolveNode(root, refuseAny) {
    return resolve(root, false);

    function resolve<Kind>(node: Kind, isSchema: boolean, hasNames?: boolean): Kind;
    function resolve(node: unknown, isSchema: boolean, hasNames = false): unknown {
      if (Array.isArray(node)) return node.map((item) => resolve(item, isSchema));
      if (!isNode(node)) return node;
      const { $ref, ...others } = node;
      const isReference = typeof $ref === 'string';
      const entries = Object.entries(isReference ? others : node);
      const resolved = entries.map(([key, value]) => {
        if (!hasNames && isData(key, value)) return [key, value];
        return [key, resolve(value, isSchema || key === 'schema', !hasNames && isNames(key))];
      });
      const beside = Object.fromEntries(resolved);
      if (!isReference) return isSchema && isDiscriminated(beside) ? choose(document, node, beside, refuse) : beside;
      return join(targetOf($ref, isSchema), beside, isSchema);
    }

    function targetOf($ref: string, isSchema: boolean): Schema {
      const isOther = isSchema && OTHER.test($ref);
      const known = targets.get($ref);
      if (faults.has($ref) && !open.has($ref)) refuse(faults.get($ref) as string);
      if (known !== undefined && !isOther) return known;
      const node = lookUp(document, $ref) as Schema | undefined;
      if (open.has($ref) && isSchema && !isOther) return toRecursion($ref, () => targets.get($ref) as Keywords);
      const problem = findFault($ref, node, isSchema, open.has($ref));
      if (problem || node === undefined) return refuse(problem as string);
      open.add($ref);
      targets.set($ref, resolve(node, isSchema));
      open.delete($ref);
      return targets.get($ref) as Schema;
    }

    function refuse(problem: string): Schema {
      for (const $ref of open) faults.set($ref, problem);
      refuseAny(problem);
      return {};
    }
  };
}

function findFault($ref: string, node: unknown, isSchema: boolean, isOpen: boolean): string | undefined {
  if (isOpen) return `${$ref} refers to itself, which only a schema may do`;
  if (node === undefined) return `$ref ${$ref} is not in this document`;
  const isNone = isSchema && (OTHER.test($ref) || (Object(node) !== node && typeof node !== 'boolean'));
  return isNone ? `$ref ${$ref} leads to no schema` : undefined;
}

/** The target of a reference, with the keywords beside it. */
function join(target: Schema, beside: Keywords, isSchema: boolean): Schema {
  if (Object.keys(beside).length === 0 || typeof target === 'boolean') return target;
  if (isRecursion(target)) return beyond(target, beside);
  return isSchema ? combine(target, beside) : { ...target, ...wordsOf(beside) };
}

/** Refuses names of a discriminator that lead nowhere. */
function choose(document: unknown, source: Keywords, resolved: Discriminated, refuse: Refuse): Keywords {
  const { propertyName, mapping = {} } = resolved.discriminator;
  for (const [name, $ref] of Object.entries(mapping)) {
    if (String($ref).startsWith('#') && lookUp(document, $ref) === undefined)
      refuse(`discriminator ${propertyName}: its mapping ${name} leads to ${$ref}, which is not in this document`);
  }
  return discriminated(source, resolved, refuse);
}

/** A component that is no schema. */
const OTHER = /^#\/components\/(?!schemas\/)\w+\/[^/]+$/;

/** The words that a reference to something other than a schema may have beside it: all else is ignored (OpenAPI 3.1, section 4.8.23). */
const wordsOf = (beside: Keywords): Keywords =>
  Object.fromEntries(Object.entries(beside).filter(([key]) => /^(summary|description|x-.*)$/.test(key)));

const isDiscriminated = (schema: Keywords): schema is Discriminated =>
  Boolean(schema.discriminator?.propertyName && Array.isArray(schema.oneOf ?? schema.anyOf));

/** A recursive reference with keywords beside it. */
function beyond(target: Keywords, { allOf = [], ...beside }: Keywords): Keywords {
  return { ...beside, allOf: [target, ...allOf] };
}

/** A schema that requires both. The target goes into `allOf`, because some keywords change their meaning beside others. */
function combine(target: Keywords, beside: Keywords): Keywords {
  if (Object.keys(beside).every((key) => ANNOTATION.test(key))) return { ...target, ...beside };
  const { allOf = [], ...others } = beside;
  const ofTarget = Object.entries(target);
  const shown = ofTarget.filter(([key]) => ANNOTATION.test(key) || KIND.test(key));
  const checked = ofTarget.filter(([key]) => !ANNOTATION.test(key));
  return { ...Object.fromEntries(shown), ...others, allOf: [Object.fromEntries(checked), ...allOf] };
}
