/** Finds nodes of a document by JSON Pointer, and finds out which keys are names, keywords or data. */
import { fromPointerToken } from '../../json/pointer.ts';
import { isNode } from './json.ts';

/** Returns the node that a local reference points to (RFC 6901, section 6). A `$ref` in that node is not followed. */
export function lookUp(document: unknown, $ref: unknown): unknown {
  if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return undefined;
  return toPointer($ref)
    ?.split('/')
    .reduce<unknown>((node, key) => ownOf(node, fromPointerToken(key)), document);
}

/**
 * Decodes the fragment of a local reference. Returns the JSON Pointer without its first `/`. Returns undefined if the
 * fragment is not percent-encoded UTF-8 (RFC 3986, section 2.5).
 */
export function toPointer($ref: string): string | undefined {
  try {
    return decodeURIComponent($ref.slice(2));
  } catch {
    return undefined;
  }
}

/** Reads own properties only, because an inherited property such as `toString` is not in the document. */
const ownOf = (node: unknown, name: string) => (isNode(node) && Object.hasOwn(node, name) ? node[name] : undefined);

const NAMES =
  /^(properties|patternProperties|dependentSchemas|\$defs|headers|schemas|parameters|examples|content|mapping|responses|requestBodies|securitySchemes|pathItems|encoding|links|callbacks)$/;
const VALUES = /^(example|examples|default|enum|const|x-.*)$/;

/** True if the keys below this key are names that the contract chooses, not keywords of OpenAPI. */
export const isNames = (key: string): boolean => NAMES.test(key);
/** True if this key contains an instance value, such as an example, instead of a schema. */
export const isValue = (key: string): boolean => VALUES.test(key);
/**
 * True if the value of this key is data, so that a `$ref` inside it is not a reference. The key `examples` is
 * ambiguous: an array of examples is data, but the `examples` of a parameter, a header or a media type are an object of
 * named Example Objects, which may be references.
 */
export const isData = (key: string, value: unknown): boolean =>
  key === 'examples' ? Array.isArray(value) : key === 'value' || isValue(key);

/**
 * Matches annotations: keywords that do not restrict the value (JSON Schema 2020-12, Validation, section 9; OpenAPI
 * 3.1, 4.8.24).
 */
export const ANNOTATION =
  /^(title|description|default|examples?|deprecated|readOnly|writeOnly|externalDocs|xml|discriminator|x-.*)$/;
