/**
 * Yours: checks tokens of other issuers, if the contract has bearer tokens in the format JWT, OAuth 2 or OpenID Connect. Without
 * `verifyToken`, contracts with OAuth 2 or OpenID Connect are refused, and a JWT is one of the server's own keys.
 */
import type { VerifyToken } from 'contract-first';

/** The claims of a token: handlers get them as `caller.claims`. */
export type Claims = Readonly<Record<string, unknown>>;

export const verifyToken: VerifyToken<Claims> | undefined = undefined;
