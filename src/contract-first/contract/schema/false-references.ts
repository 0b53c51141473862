/** A `$ref` or an `$id` that is data: the name of a field, or a part of a value, such as an example. */
import { isNode } from '../../engine/schema/json.ts';
import { isData, isNames, lookUp } from '../../engine/schema/keys.ts';

/** The keywords of references, and of what they lead to. */
const REFERENCE = /^\$(ref|id|anchor|dynamicRef|dynamicAnchor|schema)$/;

/** Whether a document, which is also given as JSON, may have one: it leads to no component, or is what others lead to. */
export function hasFalseReferences(json: string, document: unknown): boolean {
  if (/"\$(id|anchor|dynamicRef|dynamicAnchor|schema)":/.test(json)) return true;
  const targets = new Set([...json.matchAll(/"\$ref":(?:"(#\/components\/[^"]*))?/g)].map(([, target]) => target));
  return [...targets].some((target) => lookUp(document, target) === undefined);
}

/** Leaves out each that is data, for libraries that would follow it: a field of this name, and a part of a value. */
export function withoutFalseReferences<Kind>(node: Kind, key?: string): Kind;
export function withoutFalseReferences(node: unknown, key = ''): unknown {
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
