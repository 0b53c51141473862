/** Tokens of other issuers (RFC 6750), which the team's `verifyToken` checks. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Claims } from '../../registered.ts';
import { type Contract, ContractError } from '../contract/contract.ts';
import { HttpError } from '../errors.ts';
import type { Verified, VerifyToken } from '../tokens.ts';
import type { Caller, IdentifyCaller } from './caller.ts';

/** How long a check may take, in milliseconds. */
const VERIFY_TIMEOUT = 5000;

/** RFC 6750, section 2.1. */
const SENT = /^bearer +([\w~+/.-]+=*) *$/i;

export function buildIdentifyToken(
  verify: VerifyToken<Claims>,
  toCaller: (verified: Verified<Claims>) => Caller,
  timeout = VERIFY_TIMEOUT,
): IdentifyCaller {
  return (request, _reply, done) => {
    const [, token] = SENT.exec(request.headers.authorization ?? '') ?? [];
    if (token === undefined) {
      done(undefined);
      return;
    }
    const check = async () => {
      const result = await verify(token, request);
      return 'refused' in result ? result : toCaller(result);
    };
    withTimeout(check, timeout).then(
      (result) => ('refused' in result ? done(undefined, result.refused) : done(result)),
      (cause) => done(new HttpError('unavailable', 'The tokens cannot be checked now.', { cause })),
    );
  };
}

async function withTimeout<Result>(check: () => Promise<Result>, timeout: number): Promise<Result> {
  const late = new AbortController();
  const fail = () => Promise.reject(new Error('the token was not checked in time'));
  try {
    return await Promise.race([check(), wait(timeout, undefined, { signal: late.signal }).then(fail)]);
  } finally {
    late.abort();
  }
}

/** @throws ContractError if tokens of another issuer are needed, and there is no `verifyToken` */
export function checkTokens({ tokenSchemes }: Pick<Contract, 'tokenSchemes'>, verifyToken: unknown): void {
  const unchecked = verifyToken === undefined ? tokenSchemes : [];
  if (unchecked.length === 0) return;
  throw new ContractError(
    unchecked.map((name) => `security scheme ${name}: its tokens are not checked: write verifyToken in src/tokens.ts`),
  );
}
