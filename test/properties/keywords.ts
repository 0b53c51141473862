/** The keywords of a schema that no value can break, and the error for a rule that no generator can break yet. */

/**
 * Keywords that do not affect whether a value is valid (JSON Schema 2020-12 Validation, section 9; OpenAPI 3.1, section
 * 4.8.24).
 */
const ANNOTATIONS = [
  ...'title description default example examples deprecated externalDocs xml'.split(' '),
  ...'readOnly writeOnly discriminator $comment'.split(' '),
];

export const isAnnotation = (keyword: string) => ANNOTATIONS.includes(keyword) || keyword.startsWith('x-');

class UnknownRule extends Error {
  /** `break maximum` */
  readonly rule: string;
  readonly file: string;
  readonly place: string;

  constructor(rule: string, file: string, place = '') {
    super(`no way is known to ${rule}${place && ` of ${place}`}; add one to test/properties/${file}`);
    this.rule = rule;
    this.file = file;
    this.place = place;
  }
}

/**
 * Makes the error for a rule of the contract that no generator knows. Add the rule to `file`; without it, the tests
 * cannot check the server.
 */
export function noWayToBreak(rule: string, file: string): Error {
  return new UnknownRule(`break ${rule}`, file);
}

/** Makes the error for a schema for which the generators find no valid value. */
export function noWayToKeep(schema: object, file: string): Error {
  return new UnknownRule(`keep ${Object.keys(schema).join(', ')}`, file);
}

/** Adds the outer position to an error about an unknown rule: `.name` in `body` becomes `body.name`. */
export function within<T>(outer: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof UnknownRule)) throw error;
    const { rule, file, place } = error;
    throw new UnknownRule(rule, file, place.startsWith('.') ? outer + place : `${outer} ${place}`.trim());
  }
}
