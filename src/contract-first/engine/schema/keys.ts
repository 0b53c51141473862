/** Tells what is under a key of a document: names that the contract gives, or a value. */
const NAMES =
  /^(properties|patternProperties|dependentSchemas|\$defs|headers|schemas|parameters|examples|content|mapping|responses|requestBodies|securitySchemes|pathItems|encoding|links|callbacks)$/;
const VALUES = /^(example|examples|default|enum|const|x-.*)$/;

/** Whether the keys below this key are names of the contract, not keywords of OpenAPI. */
export const isNames = (key: string): boolean => NAMES.test(key);
/** Whether this key has a value, such as an example. */
export const isValue = (key: string): boolean => VALUES.test(key);
/** Whether the value of this key is data, in which a `$ref` is none. The examples of a parameter, a header or a media type are objects with names. */
export const isData = (key: string, value: unknown): boolean =>
  key === 'examples' ? Array.isArray(value) : key === 'value' || isValue(key);

/** Annotations: keywords that allow every value (JSON Schema 2020-12, Validation, section 9; OpenAPI 3.1, 4.8.24). */
export const ANNOTATION =
  /^(title|description|default|examples?|deprecated|readOnly|writeOnly|externalDocs|xml|discriminator|x-.*)$/;
