/**
 * Replaces each `$ref` by its target. A reference inside its own target stays, because replacing it would never end.
 * Keywords next to the `$ref` of a schema also apply.
 */
import {
  isNode,
  type Keywords,
  keywordsOf,
  type ReportProblem,
  reportIn,
  type Schema,
} from '../../engine/schema/json.ts';
import { ANNOTATION, isData, isNames, lookUp } from '../../engine/schema/keys.ts';
import { isRecursion, toRecursion } from '../../engine/schema/subschemas.ts';
import { toPointerOf } from '../../json/pointer.ts';

/** Keywords that other code expects in the schema itself, not in its `allOf`. */
const KIND = /^(type|format)$/;

/** Returns a copy of the node, with each reference replaced by its target. `Kind` is the type of the node. */
type Resolve = <Kind>(node: Kind, report: ReportProblem) => Kind;

const known = new WeakMap<object, Resolve>();

/**
 * Returns the function that replaces references of a document, which is the same function at each call for a document,
 * so that a record and a reply that refer to the same schema get the same object.
 */
export function resolveOf(document: object): Resolve {
  const resolve = known.get(document) ?? buildResolve(document);
  known.set(document, resolve);
  return resolve;
}

/**
 * Builds a function that replaces references. For equal references it returns the same object, so that each schema is
 * compiled only once.
 */
export function buildResolve(document: unknown): Resolve {
  const targets = new Map<string, Schema>();
  /**
   * The problems of faulty targets, by reference. A problem is reported for every operation that refers to the target.
   */
  const faults = new Map<string, { words: string; pointer: string }>();
  /** The targets that are being resolved, each with the JSON Pointer of the reference to it. */
  const open = new Map<string, string>();

  return function resolveNode(root, reportAny) {
    return resolve(root, '', false);

    function resolve<Kind>(node: Kind, at: string, isSchema: boolean, hasNames?: boolean): Kind;
    function resolve(node: unknown, at: string, isSchema: boolean, hasNames = false): unknown {
      if (Array.isArray(node)) return node.map((item, index) => resolve(item, `${at}/${index}`, isSchema));
      if (!isNode(node)) return node;
      const { $ref, ...others } = node;
      const entries = Object.entries(typeof $ref === 'string' ? others : node);
      const resolved = entries.map(([key, value]) => {
        if (!hasNames && isData(key, value)) return [key, value];
        return [key, resolve(value, at + toPointerOf(key), isSchema || key === 'schema', !hasNames && isNames(key))];
      });
      const beside = Object.fromEntries(resolved);
      if (typeof $ref === 'string') return join(targetOf($ref, at, isSchema), beside, isSchema);
      return isSchema && isDiscriminated(beside) ? discriminated(node, beside, document, reportIn(report, at)) : beside;
    }

    function targetOf($ref: string, at: string, isSchema: boolean): Schema {
      const isOther = isSchema && OTHER_COMPONENT.test($ref);
      const [known, fault] = [targets.get($ref), faults.get($ref)];
      if (fault && !open.has($ref)) report(fault.words, at + fault.pointer);
      if (known !== undefined && !isOther) return known;
      const node = lookUp(document, $ref) as Schema | undefined;
      if (open.has($ref) && isSchema && !isOther) return toRecursion($ref, () => targets.get($ref) as Keywords);
      const problem = findFault($ref, node, isSchema, open);
      if (problem || node === undefined) return report(problem as string, `${at}/$ref`);
      open.set($ref, at);
      targets.set($ref, resolve(node, at, isSchema));
      open.delete($ref);
      return targets.get($ref) as Schema;
    }

    function report(words: string, pointer = ''): Schema {
      for (const [$ref, { length }] of open) faults.set($ref, { words, pointer: pointer.slice(length) });
      reportAny(words, pointer);
      return {};
    }
  };
}

/**
 * The maximum length of a chain of references. Without a maximum, a chain could exhaust the stack, because all code
 * that follows schemas is recursive.
 */
const MOST_REFERENCES = 500;

function findFault(
  $ref: string,
  node: unknown,
  isSchema: boolean,
  open: ReadonlyMap<string, string>,
): string | undefined {
  if (open.size >= MOST_REFERENCES) return `$ref ${$ref} is reached through more than ${MOST_REFERENCES} others`;
  if (open.has($ref)) return `${$ref} refers to itself, which only a schema may do`;
  if (node === undefined) return `$ref ${$ref} is not in this document`;
  const isNone = isSchema && (OTHER_COMPONENT.test($ref) || (Object(node) !== node && typeof node !== 'boolean'));
  return isNone ? `$ref ${$ref} does not lead to a schema` : undefined;
}

/** Merges a target with the keywords next to its `$ref`. */
function join(target: Schema, beside: Keywords, isSchema: boolean): Schema {
  if (Object.keys(beside).length === 0 || typeof target === 'boolean') return target;
  if (isRecursion(target)) return { ...beside, allOf: [target, ...(beside.allOf ?? [])] };
  return isSchema ? combine(target, beside) : { ...target, ...wordsOf(beside) };
}

/** Matches a reference to a component other than a schema. */
const OTHER_COMPONENT = /^#\/components\/(?!schemas\/)\w+\/[^/]+$/;

/**
 * Returns the keywords that apply next to a reference to a parameter, a response or another component than a schema.
 * The other keywords are ignored (OpenAPI 3.1, section 4.8.23).
 */
const wordsOf = (beside: Keywords): Keywords =>
  Object.fromEntries(Object.entries(beside).filter(([key]) => /^(summary|description|x-.*)$/.test(key)));

const isDiscriminated = (schema: Keywords): schema is Discriminated =>
  Boolean(schema.discriminator?.propertyName && Array.isArray(schema.oneOf ?? schema.anyOf));

/**
 * Returns a schema with values that fit both the target of a `$ref` and the keywords next to the `$ref`. The target
 * becomes a subschema in `allOf`, because some keywords would change their meaning next to those of the other schema.
 */
function combine(target: Keywords, beside: Keywords): Keywords {
  if (Object.keys(beside).every((key) => ANNOTATION.test(key))) return { ...target, ...beside };
  const { allOf = [], ...others } = beside;
  const ofTarget = Object.entries(target);
  const shown = ofTarget.filter(([key]) => ANNOTATION.test(key) || KIND.test(key));
  const checked = ofTarget.filter(([key]) => !ANNOTATION.test(key));
  return { ...Object.fromEntries(shown), ...others, allOf: [Object.fromEntries(checked), ...allOf] };
}

type Discriminated = Keywords & Required<Pick<Keywords, 'discriminator'>>;

/**
 * Converts a `discriminator` next to `oneOf` or `anyOf` (OpenAPI 3.1, section 4.8.25) to `if` and `then`. The
 * discriminator's field selects one alternative, and only this alternative is checked, so that all problems are about
 * it. `source` is the schema before its references were resolved, because the names of the referenced schemas are the
 * values of the field.
 */
function discriminated(source: Keywords, resolved: Discriminated, document: unknown, report: ReportProblem): Keywords {
  const { anyOf = [], oneOf: branches = anyOf, discriminator, ...others } = resolved;
  const { propertyName, mapping = {} } = discriminator;
  for (const [name, $ref] of Object.entries(mapping)) {
    if (String($ref).startsWith('#') && lookUp(document, $ref) === undefined)
      report(
        `discriminator ${propertyName}: its mapping ${name} leads to ${$ref}, which is not in this document`,
        toPointerOf('discriminator', 'mapping', name),
      );
  }
  const references = (source.oneOf ?? source.anyOf) as Schema[];
  const named = branches.map((branch, index) => ({
    names: namesOf(references[index], branch, propertyName, mapping),
    branch,
  }));
  if (named.some(({ names }) => names.length === 0)) {
    report(
      `discriminator ${propertyName}: each alternative needs a name, by $ref, or by const or enum`,
      '/discriminator',
    );
  } else if (![resolved, ...branches].some((one) => mayHave(propertyName, one))) {
    report(`discriminator ${propertyName}: no alternative has this field`, '/discriminator');
  }
  const choice = { enum: named.flatMap(({ names }) => names) };
  const chosen = named.map(({ names, branch }) => ({
    if: { properties: { [propertyName]: { enum: names } }, required: [propertyName] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: branch,
  }));
  const tagged = { type: 'object', required: [propertyName], properties: { [propertyName]: choice } };
  return { ...others, allOf: [...(others.allOf ?? []), tagged, ...chosen] };
}

/**
 * True if the schema or an alternative in it describes the field. Also true for a recursive reference, because its
 * target is not resolved yet, and its fields are unknown.
 */
function mayHave(name: string, schema: Schema): boolean {
  const { properties = {}, allOf = [], anyOf = [], oneOf = [] } = keywordsOf(schema);
  return isRecursion(schema) || name in properties || [...allOf, ...anyOf, ...oneOf].some((one) => mayHave(name, one));
}

/**
 * Returns the values of the discriminator's field that select this alternative (`branch`). The mapping lists these
 * values. If the mapping does not name the alternative, the field's `enum` or `const` gives the values, and otherwise
 * the last segment of the alternative's reference.
 */
function namesOf(
  reference: Schema | undefined,
  branch: Schema,
  propertyName: string,
  mapping: Record<string, string>,
): unknown[] {
  const { $ref } = keywordsOf(reference);
  const last = $ref?.split('/').at(-1);
  const mapped = Object.keys(mapping).filter((name) => $ref && [$ref, last].includes(mapping[name] as string));
  if (mapped.length > 0) return mapped;
  const { const: only, enum: several } = keywordsOf(keywordsOf(branch).properties?.[propertyName]);
  return several ?? (only === undefined ? [last ?? []].flat() : [only]);
}

/** Matches keywords that refer to schemas, or that name the targets of such references. */
const REFERENCE = /^\$(ref|id|anchor|dynamicRef|dynamicAnchor|schema)$/;

/**
 * Returns the document for libraries that treat every key `$ref` or `$id` as a reference. Removes such keys if they are
 * data: fields named `$ref`, and keys inside examples and other values.
 */
export const withTrueReferences = <Kind>(document: Kind, json: string): Kind =>
  hasFalseReferences(json, document) ? withoutFalseReferences(document) : document;

/**
 * True if a document may contain keys such as `$ref` that are data. The function searches for a `$ref` that does not
 * lead to a component, and for keys such as `$id`. `json` is the same document as text, because a text is faster to
 * search.
 */
function hasFalseReferences(json: string, document: unknown): boolean {
  if (/"\$(id|anchor|dynamicRef|dynamicAnchor|schema)":/.test(json)) return true;
  const targets = new Set([...json.matchAll(/"\$ref":(?:"(#\/components\/[^"]*))?/g)].map(([, target]) => target));
  return [...targets].some((target) => lookUp(document, target) === undefined);
}

/** Removes `$ref`, `$id` and similar keys that are data. */
function withoutFalseReferences<Kind>(node: Kind, key?: string): Kind;
function withoutFalseReferences(node: unknown, key = ''): unknown {
  if (Array.isArray(node)) return node.map((item) => withoutFalseReferences(item));
  if (!isNode(node)) return node;
  const hasNames = isNames(key);
  const entries = Object.entries(node).flatMap(([name, value]): [string, unknown][] => {
    if (hasNames) return REFERENCE.test(name) && isNode(value) ? [] : [[name, withoutFalseReferences(value)]];
    return [[name, isData(name, value) ? withoutAny(value) : withoutFalseReferences(value, name)]];
  });
  return Object.fromEntries(entries);
}

function withoutAny(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAny);
  if (!isNode(value)) return value;
  const others = Object.entries(value).filter(([key]) => !REFERENCE.test(key));
  return Object.fromEntries(others.map(([key, inner]) => [key, withoutAny(inner)]));
}
