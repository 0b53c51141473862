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
  /** The alternative security requirements, each a list of keys. A request must meet only one of them. */
  alternatives: CheckedKey[][];
  realm: string;
  /** The rate limit of an address for requests without a valid key. */
  unauthorizedRate: Rate | undefined;
  limits: RateLimits;
  over: SendTooManyRequests;
  isKeyOptional: boolean;
}

/** The state of the check of one request. */
interface Attempt {
  request: FastifyRequest;
  state: RequestState;
  reply: FastifyReply;
  done: (failure?: HttpError) => void;
  /** The owner of the first key of the alternative that is being checked. */
  caller?: Caller;
  /**
   * The id that the request was already counted for. If another alternative finds the same id, the request is not
   * counted again.
   */
  counted?: string;
  /** The reason why `verifyToken` rejected the token. */
  tokenProblem?: string;
  /** The 403 for a key that lacks scopes. It is sent only after all alternatives have failed. */
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
   * Checks one key of an alternative, whose index is `step`, and then the next one. If a key is missing or not valid,
   * continues with the next alternative.
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
   * Continues with this alternative if the caller has the scopes that the key needs, and otherwise with the next
   * alternative.
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

  /** Admits the request. The caller is undefined if the operation does not need a key and no valid key was sent. */
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
