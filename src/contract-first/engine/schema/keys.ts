/** The keys of a document: JSON Pointers of them, and what is under each. */
import { fromPointerToken } from '../../json/pointer.ts';
import { isNode } from './json.ts';

/** The node at a JSON Pointer of the document (RFC 6901, section 6); if it is itself a reference, that is not followed. */
export function lookUp(document: unknown, $ref: unknown): unknown {
  if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return undefined;
  return toPointer($ref)
    ?.split('/')
    .reduce<unknown>((node, key) => ownOf(node, fromPointerToken(key)), document);
}

/** Undefined where the fragment is not percent-encoded UTF-8 (RFC 3986, section 2.5). */
export function toPointer($ref: string): string | undefined {
  try {
    return decodeURIComponent($ref.slice(2));
  } catch {
    return undefined;
  }
}

/** Own properties only: `toString` is not in a document. */
const ownOf = (node: unknown, name: string) => (isNode(node) && Object.hasOwn(node, name) ? node[name] : undefined);

const NAMES =
  /^(properties|patternProperties|dependentSchemas|\$defs|headers|schemas|parameters|examples|content|mapping|responses|requestBodies|securitySchemes|pathItems|encoding|links|callbacks)$/;
const VALUES = /^(example|examples|default|enum|const|x-.*)$/;

/** Whether the keys below this key are names of the contract, not keywords of OpenAPI. */
export const isNames = (key: string): boolean => NAMES.test(key);
/** Whether the key is followed by a value, such as an example. */
export const isValue = (key: string): boolean => VALUES.test(key);
/** Whether the value of this key is data, where a `$ref` is not a reference. The examples of a parameter, a header or a media type are objects with names. */
export const isData = (key: string, value: unknown): boolean =>
  key === 'examples' ? Array.isArray(value) : key === 'value' || isValue(key);

/** Annotations: keywords that allow every value (JSON Schema 2020-12, Validation, section 9; OpenAPI 3.1, 4.8.24). */
export const ANNOTATION =
  /^(title|description|default|examples?|deprecated|readOnly|writeOnly|externalDocs|xml|discriminator|x-.*)$/;
