/** Tokens of other issuers (RFC 6750), which the team's `verifyToken` checks. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Claims } from '../../registered.ts';
import { HttpError } from '../errors.ts';
import { stateOf } from '../request-state.ts';
import type { Verified, VerifyToken } from '../tokens.ts';
import type { Caller, Identify } from './caller.ts';

/** How long a check may take, in milliseconds. */
const VERIFY_TIMEOUT = 5000;

/** RFC 6750, section 2.1. */
const SENT = /^bearer +([\w~+/.-]+=*) *$/i;

export function buildIdentifyToken(
  verify: VerifyToken<Claims>,
  toCaller: (verified: Verified<Claims>) => Caller,
  timeout = VERIFY_TIMEOUT,
): Identify {
  return (request, _reply, done) => {
    const state = stateOf(request);
    state.caller = undefined;
    const [, token] = SENT.exec(request.headers.authorization ?? '') ?? [];
    if (token === undefined) {
      done();
      return;
    }
    const check = async () => {
      const result = await verify(token, request);
      return 'refused' in result ? result : toCaller(result);
    };
    inTime(check, timeout).then(
      (result) => {
        if ('refused' in result) done(undefined, result.refused);
        else {
          state.caller = result;
          done();
        }
      },
      (cause) => done(new HttpError('unavailable', 'The tokens cannot be checked now.', { cause })),
    );
  };
}

async function inTime<Result>(check: () => Promise<Result>, timeout: number): Promise<Result> {
  const late = new AbortController();
  const fail = () => Promise.reject(new Error('the token was not checked in time'));
  try {
    return await Promise.race([check(), wait(timeout, undefined, { signal: late.signal }).then(fail)]);
  } finally {
    late.abort();
  }
}
