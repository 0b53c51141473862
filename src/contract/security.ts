/** Who may call an operation: everyone, or clients with a bearer key. Any other kind of security is refused. */
import type { Json, Refuse } from './contract.ts';

/** Optional keys, combined schemes and scopes are not implemented. */
export function checkSecurity(requirements: Record<string, string[]>[], schemes: object, refuse: Refuse): void {
  for (const requirement of requirements) {
    const [[name, scopes] = ['', []], ...others] = Object.entries(requirement);
    if (!(name in schemes) || scopes.length > 0 || others.length > 0) {
      refuse(`security ${JSON.stringify(requirement)} is not one scheme of components.securitySchemes, without scopes`);
    }
  }
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
