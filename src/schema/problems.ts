/** What a request breaks, in words for the client, with its place: `body.name is missing`. */
import type { ErrorObject } from 'ajv/dist/2020.js';

/** Each once, in its words. A schema that is chosen by `if` has errors of its own. */
export function toProblems(errors: ErrorObject[] | null | undefined): string[] {
  return [...new Set((errors ?? []).filter(({ keyword }) => keyword !== 'if').map(toProblem))];
}

function toProblem({ instancePath, keyword, params, message }: ErrorObject): string {
  const place = instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  const inside = (name: string) => (place ? `${place}.${name}` : name);
  const noun = place === 'query' ? 'query parameter' : 'field';
  switch (keyword) {
    case 'required':
      return `${inside(params.missingProperty)} is missing`;
    case 'additionalProperties':
      return `${inside(params.additionalProperty)} is not a known ${noun}`;
    case 'unevaluatedProperties':
      return `${inside(params.unevaluatedProperty)} is not a known ${noun}`;
    case 'enum':
      return `${place} must be one of ${params.allowedValues.map(String).join(', ')}`;
    case 'type':
      return `${place} must be of type ${params.type}`;
    case 'minLength':
      return `${place} must have at least ${params.limit} characters`;
    case 'maxLength':
      return `${place} must have at most ${params.limit} characters`;
    case 'pattern':
      return `${place} must match ${params.pattern}`;
    case 'minimum':
      return `${place} must be at least ${params.limit}`;
    case 'maximum':
      return `${place} must be at most ${params.limit}`;
    case 'uniqueItems':
      return `${place} must not have the same item twice`;
    default:
      return `${place} ${message}`;
  }
}
