/** The keywords of a schema that need no broken value, and the error for a rule that no generator can break yet. */

/** Keywords that say nothing about validity (JSON Schema 2020-12 Validation, section 9; OpenAPI 3.1, section 4.8.24). */
const ANNOTATIONS = [
  'title',
  'description',
  'default',
  'example',
  'examples',
  'deprecated',
  'externalDocs',
  '$comment',
];

export const isAnnotation = (keyword: string) => ANNOTATIONS.includes(keyword) || keyword.startsWith('x-');

/** For a rule of the contract that the tests do not know: it must be added before they can check the server. */
export function noWayToBreak(rule: string, file: string): Error {
  return new Error(`no way is known to break ${rule}; add one to test/properties/${file}`);
}
