/** Tries the security requirements of an operation in order, until the keys of the request satisfy one of them. */
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
  /** The alternative requirements, each with its keys. A request must fulfil only one requirement. */
  alternatives: CheckedKey[][];
  realm: string;
  /** How often an address may send requests without a valid key. */
  unauthorizedRate: Rate | undefined;
  limits: RateLimits;
  over: SendTooManyRequests;
  isKeyOptional: boolean;
}

/** The check of one request. */
interface Attempt {
  request: FastifyRequest;
  state: RequestState;
  reply: FastifyReply;
  done: (failure?: HttpError) => void;
  /** The owner of the first key of an alternative. */
  caller?: Caller;
  /** The caller that the request was counted for. Another alternative with the same key does not count it again. */
  counted?: string;
  /** The reason why a token was rejected. */
  tokenProblem?: string;
  /** The 403 for a key that lacks scopes. The error is sent only at the end, because a later alternative may still pass. */
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

  /** Checks the keys of an alternative one after the other. If the request lacks one of them, goes on to the next alternative. */
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

  /** Continues with this alternative if the key has the needed scopes, and otherwise with the next alternative. */
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

  /** The caller is undefined if the operation needs none. */
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
