/** Tells what is under a key of a document: names that the contract gives, or a value. */
import { isNode } from './json.ts';

const NAMES =
  /^(properties|patternProperties|dependentSchemas|headers|schemas|parameters|examples|content|mapping|responses|requestBodies|securitySchemes|pathItems|encoding)$/;
const VALUES = /^(example|examples|default|enum|const|x-.*)$/;

/** Whether the keys below this key are names of the contract, not keywords of OpenAPI. */
export const isNames = (key: string): boolean => NAMES.test(key);
/** Whether this key has a value, such as an example. */
export const isValue = (key: string): boolean => VALUES.test(key);

/** A document, as JSON, that may have a `$ref` which is no reference. */
export const hasFalseReferences = (json: string): boolean => /"\$ref":(?!"#\/components\/)/.test(json);

/** Leaves out each `$ref` that is no reference, for libraries that would follow it: a field of this name, and a part of a value. */
export function withoutFalseReferences<Kind>(node: Kind, key?: string): Kind;
export function withoutFalseReferences(node: unknown, key = ''): unknown {
  if (Array.isArray(node)) return node.map((item) => withoutFalseReferences(item));
  if (!isNode(node)) return node;
  const hasNames = isNames(key);
  const entries = Object.entries(node).flatMap(([name, value]): [string, unknown][] => {
    if (hasNames) return name === '$ref' && isNode(value) ? [] : [[name, withoutFalseReferences(value)]];
    const isExamples = name === 'examples' && !Array.isArray(value);
    const isData = (isValue(name) && !isExamples) || name === 'value';
    return [[name, isData ? withoutAny(value) : withoutFalseReferences(value, name)]];
  });
  return Object.fromEntries(entries);
}

function withoutAny(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAny);
  if (!isNode(value)) return value;
  const others = Object.entries(value).filter(([key]) => key !== '$ref');
  return Object.fromEntries(others.map(([key, inner]) => [key, withoutAny(inner)]));
}
