/** Who may call an operation: everyone, or clients with a bearer key that has the scopes it needs. Any other security is refused. */
import type { Json, Refuse } from './contract.ts';

/** A name of a scope, as RFC 6749, section 3.3, without quotes and commas, which stand around and between scopes elsewhere. */
const SCOPE = /^[!#-&(-+\--[\]-~]+$/;

/** The scopes that a key needs; undefined where no key is needed. Optional keys and alternatives are not implemented. */
export function toScopes(
  requirements: Record<string, string[]>[],
  schemes: object,
  refuse: Refuse,
): string[] | undefined {
  const [requirement, ...alternatives] = requirements;
  if (requirement === undefined) return undefined;
  const [[name, scopes] = ['', []], ...others] = Object.entries(requirement);
  if (!(name in schemes) || others.length > 0 || alternatives.length > 0) {
    refuse(`security ${JSON.stringify(requirements)} is not one scheme of components.securitySchemes`);
  }
  for (const scope of scopes.filter((text) => !SCOPE.test(text))) refuse(`security: ${scope} cannot be a scope`);
  return scopes;
}

/** Every key is valid for every operation: with a second scheme, the contract would promise otherwise. */
export function checkSecuritySchemes(schemes: Record<string, Json>, refuse: Refuse): void {
  const names = Object.keys(schemes);
  if (names.length > 1) refuse(`security schemes ${names.join(', ')}: only one is supported`);
  for (const [name, { type, scheme }] of Object.entries(schemes)) {
    if (type !== 'http' || scheme?.toLowerCase() !== 'bearer') {
      refuse(`security scheme ${name}: only type http with scheme bearer is supported`);
    }
  }
}
