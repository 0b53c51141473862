/** Who may call an operation: anyone, or whoever has a bearer key. Nothing else could be checked as the contract says. */
import type { Json, Refuse } from './contract.ts';

/** A key that may be left out, one among several, or one with scopes would not be checked as the contract says. */
export function checkSecurity(requirements: Record<string, string[]>[], schemes: object, refuse: Refuse): void {
  for (const requirement of requirements) {
    const [[name, scopes] = ['', []], ...others] = Object.entries(requirement);
    if (!(name in schemes) || scopes.length > 0 || others.length > 0) {
      refuse(`security ${JSON.stringify(requirement)} is not one scheme of components.securitySchemes, without scopes`);
    }
  }
}

/** Every key opens every operation: a second scheme would promise that some do not. */
export function checkSecuritySchemes(schemes: Record<string, Json>, refuse: Refuse): void {
  const names = Object.keys(schemes);
  if (names.length > 1) refuse(`security schemes ${names.join(', ')}: only one is supported`);
  for (const [name, { type, scheme }] of Object.entries(schemes)) {
    if (type !== 'http' || scheme?.toLowerCase() !== 'bearer') {
      refuse(`security scheme ${name}: only type http with scheme bearer is supported`);
    }
  }
}
