import type { VerifyToken } from 'contract-first';

export interface Claims {
  team: string;
}

/** For tests: a token is the name of a team. */
export const verifyToken: VerifyToken<Claims> = (team) => ({ id: team, claims: { team }, scopes: [] });
