/** Checks the alternative security requirements of an operation in order, until the request meets one of them. */
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Rate } from '../../store/store.ts';
import type { KeyLocation, NeededKey } from '../contract/contract.ts';
import { HttpError } from '../errors/catalogue.ts';
import { type RequestState, stateOf } from '../request-state.ts';
import type { Caller, IdentifyCaller } from './caller.ts';
import { forbidden, unauthorized } from './challenges.ts';
import { takeFromQuery } from './key-locations.ts';
import type { RateLimits, SendTooManyRequests } from './rate-limits.ts';

export interface CheckedKey extends NeededKey {
  identify: IdentifyCaller;
}

interface AdmissionOptions {
  /**
   * The alternative security requirements. An alternative is a list of keys, and a request must send all keys of at
   * least one alternative.
   */
  alternatives: CheckedKey[][];
  realm: string;
  /** The rate limit for requests without a valid key, counted for each client address. */
  unauthorizedRate: Rate | undefined;
  limits: RateLimits;
  over: SendTooManyRequests;
  isKeyOptional: boolean;
}

/** The state of checking one request. */
interface Attempt {
  request: FastifyRequest;
  state: RequestState;
  reply: FastifyReply;
  done: (failure?: HttpError) => void;
  /** The owner of the first key of the alternative that is being checked now. */
  caller?: Caller;
  /**
   * The id that this request was already counted for. A second alternative may find the same id again; the request must
   * not be counted twice.
   */
  counted?: string;
  /** The reason why `verifyToken` rejected the token. */
  tokenProblem?: string;
  /** The 403 for a valid key that lacks scopes. The reply is sent only if no other alternative admits the request. */
  denied?: HttpError;
}

export class Admission {
  readonly #options: AdmissionOptions;
  readonly #locations: KeyLocation[];
  readonly #takeKeys: ((request: FastifyRequest) => void) | undefined;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#locations = [...new Set(options.alternatives.flat().map(({ location }) => location))];
    this.#takeKeys = takeFromQuery(this.#locations);
  }

  readonly hook: onRequestHookHandler = (request, reply, done) =>
    this.#check({ request, state: stateOf(request), reply, done }, 0, 0);

  /**
   * Checks the key at index `step` of the alternative at `index`. If the key is valid, continues with the next key of
   * this alternative; otherwise continues with the next alternative.
   */
  #check(attempt: Attempt, index: number, step: number): void {
    const key = this.#options.alternatives[index]?.[step];
    if (!key) {
      this.#refuse(attempt);
      return;
    }
    const { request, state, reply, done } = attempt;
    key.identify(request, reply, (found, tokenProblem) => {
      if (found instanceof HttpError) {
        done(found);
        return;
      }
      if (tokenProblem !== undefined) attempt.tokenProblem = tokenProblem;
      if (found || step === 0) state.caller = found;
      if (!found) this.#check(attempt, index + 1, 0);
      else if (step > 0 || found.rate === undefined || attempt.counted === found.counted)
        this.#judge(attempt, found, index, step);
      else {
        attempt.counted = found.counted;
        const passed = () => this.#judge(attempt, found, index, step);
        this.#options.limits.countForCaller(found.counted, found.rate, reply, { passed, over: this.#options.over });
      }
    });
  }

  /**
   * If the caller has all scopes that this key needs, continues with the next key of this alternative, or admits the
   * request after the last key. Otherwise continues with the next alternative.
   */
  #judge(attempt: Attempt, found: Caller, index: number, step: number): void {
    const { alternatives, realm } = this.#options;
    const keys = alternatives[index] as CheckedKey[];
    const key = keys[step] as CheckedKey;
    const { scopes } = found;
    const missing = scopes === undefined ? [] : key.scopes.filter((scope) => !scopes.includes(scope));
    if (step === 0) attempt.caller = found;
    if (missing.length > 0) {
      attempt.denied ??= forbidden(missing, key, realm);
      this.#check(attempt, index + 1, 0);
    } else if (step + 1 < keys.length) this.#check(attempt, index, step + 1);
    else this.#pass(attempt, attempt.caller);
  }

  /** Admits the request. `caller` is undefined if no valid key was sent, and the operation does not need one. */
  #pass({ request, state, done }: Attempt, caller: Caller | undefined): void {
    if (caller) caller.use.usedAt = Date.now();
    state.caller = caller;
    state.isAdmitted = true;
    this.#takeKeys?.(request);
    done();
  }

  #refuse(attempt: Attempt): void {
    const { isKeyOptional, unauthorizedRate, limits, over, realm } = this.#options;
    const { request, reply, done, denied, tokenProblem } = attempt;
    if (isKeyOptional) this.#pass(attempt, undefined);
    else if (denied) done(denied);
    else {
      const passed = () => done(unauthorized(request, this.#locations, realm, tokenProblem));
      if (unauthorizedRate === undefined) passed();
      else limits.countForAddress(unauthorizedRate, reply, { passed, over });
    }
  }
}
