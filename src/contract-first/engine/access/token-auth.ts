/** Admits tokens of other issuers (RFC 6750), which the team's `verifyToken` checks. */
import type { Claims } from '../../registered.ts';
import { type Contract, ContractError } from '../contract/contract.ts';
import { HttpError } from '../errors/catalogue.ts';
import { withTimeout } from '../timeout.ts';
import type { Verified, VerifyToken } from '../tokens.ts';
import type { Caller, IdentifyCaller } from './caller.ts';

/** How long `verifyToken` may take, in milliseconds. */
const VERIFY_TIMEOUT = 5000;

/** Matches a bearer token (RFC 6750, section 2.1). */
const BEARER_HEADER = /^bearer +([\w~+/.-]+=*) *$/i;

export function buildIdentifyToken(
  verify: VerifyToken<Claims>,
  toCaller: (verified: Verified<Claims>) => Caller,
  timeout = VERIFY_TIMEOUT,
): IdentifyCaller {
  return (request, _reply, done) => {
    const [, token] = BEARER_HEADER.exec(request.headers.authorization ?? '') ?? [];
    if (token === undefined) {
      done(undefined);
      return;
    }
    const check = async () => {
      const result = await verify(token, request);
      return 'refused' in result ? result : toCaller(result);
    };
    withTimeout(check(), timeout, 'the token was not checked in time').then(
      (result) => ('refused' in result ? done(undefined, result.refused) : done(result)),
      (cause) => done(new HttpError('unavailable', 'The tokens cannot be checked now.', { cause })),
    );
  };
}

/**
 * Checks that the team has written `verifyToken` if the contract needs tokens of other issuers.
 * @throws ContractError if `verifyToken` is missing
 */
export function checkTokens({ tokenSchemes }: Pick<Contract, 'tokenSchemes'>, verifyToken: unknown): void {
  const unchecked = verifyToken === undefined ? tokenSchemes : [];
  if (unchecked.length === 0) return;
  throw new ContractError(
    unchecked.map((name) => `security scheme ${name}: its tokens are not checked: write verifyToken in src/tokens.ts`),
  );
}
