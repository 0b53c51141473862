/** The keywords of a schema that need no broken value, and the error for a rule that no generator can break yet. */

/** Keywords that say nothing about validity (JSON Schema 2020-12 Validation, section 9; OpenAPI 3.1, section 4.8.24). */
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

/** Throws for a rule of the contract that the tests do not know. The rule must be added before the tests can check the server. */
export function noWayToBreak(rule: string, file: string): Error {
  return new UnknownRule(`break ${rule}`, file);
}

/** Throws for rules that no made value keeps together. */
export function noWayToKeep(schema: object, file: string): Error {
  return new UnknownRule(`keep ${Object.keys(schema).join(', ')}`, file);
}

/** Names the place, too, where a rule in it is not known: `.name` in `body` is `body.name`. */
export function within<T>(outer: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof UnknownRule)) throw error;
    const { rule, file, place } = error;
    throw new UnknownRule(rule, file, place.startsWith('.') ? outer + place : `${outer} ${place}`.trim());
  }
}
