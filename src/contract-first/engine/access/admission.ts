/** Tries the operation's security requirements in order; the first whose keys the request has admits it. */
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Rate } from '../../store/store.ts';
import type { KeyPlace, NeededKey, Requirement } from '../contract/contract.ts';
import { HttpError } from '../errors.ts';
import { type RequestState, stateOf } from '../request-state.ts';
import { type Caller, type IdentifyCaller, missingScopes } from './caller.ts';
import { forbidden, placesOf, unauthorized } from './challenges.ts';
import { takeFromQuery } from './key-locations.ts';
import type { RateLimits, RefuseOver } from './rate-limits.ts';

export interface AdmissionOptions {
  /** The alternatives, of which one is enough. */
  security: Requirement[];
  realm: string;
  identifyBy: (place: KeyPlace) => IdentifyCaller;
  /** How often an address may send requests without a valid key. */
  unauthorizedRate: Rate | undefined;
  shares: RateLimits;
  over: RefuseOver;
  isKeyOptional: boolean;
}

interface CheckedKey extends NeededKey {
  identify: IdentifyCaller;
}

type Alternative = CheckedKey & { alsoNeeded: CheckedKey[] };

/** The check of one request. */
interface Attempt {
  request: FastifyRequest;
  state: RequestState;
  reply: FastifyReply;
  done: (failure?: HttpError) => void;
  /** The caller for whom the request was counted: a second alternative with the same key does not count it again. */
  counted?: string;
  /** Why a token was refused. */
  refused?: string;
  /** The refusal of a key that lacks scopes, while a later alternative may still pass. */
  denied?: HttpError;
}

export class Admission {
  readonly #options: AdmissionOptions;
  readonly #places: KeyPlace[];
  readonly #alternatives: Alternative[];
  readonly #takeKeys: ((request: FastifyRequest) => void) | undefined;

  constructor(options: AdmissionOptions) {
    const { security, identifyBy } = options;
    this.#options = options;
    this.#places = placesOf(security);
    const toChecked = (key: NeededKey): CheckedKey => ({ ...key, identify: identifyBy(key.place) });
    this.#alternatives = security.map((alternative) => ({
      ...toChecked(alternative),
      alsoNeeded: alternative.alsoNeeded.map(toChecked),
    }));
    this.#takeKeys = takeFromQuery(this.#places);
  }

  readonly hook: onRequestHookHandler = (request, reply, done) =>
    this.#tryFrom(0, { request, state: stateOf(request), reply, done });

  /** Tries the alternatives from this one on. */
  #tryFrom(index: number, attempt: Attempt): void {
    const alternative = this.#alternatives[index];
    if (!alternative) {
      this.#refuse(attempt);
      return;
    }
    const { request, state, reply, done } = attempt;
    alternative.identify(request, reply, (found, refused) => {
      if (found instanceof HttpError) {
        done(found);
        return;
      }
      state.caller = found;
      if (refused !== undefined) attempt.refused = refused;
      if (!found) this.#tryFrom(index + 1, attempt);
      else if (found.rate === undefined || attempt.counted === found.counted) this.#admit(found, index, attempt);
      else {
        attempt.counted = found.counted;
        const passed = () => this.#admit(found, index, attempt);
        this.#options.shares.countForCaller(found.counted, found.rate, reply, { passed, over: this.#options.over });
      }
    });
  }

  /** Admits the request by this alternative, or tries the next one where scopes or other keys are missing. */
  #admit(caller: Caller, index: number, attempt: Attempt): void {
    const alternative = this.#alternatives[index] as Alternative;
    const missing = missingScopes(caller, alternative.scopes);
    if (missing.length > 0) {
      attempt.denied ??= forbidden(missing, alternative, this.#options.realm);
      this.#tryFrom(index + 1, attempt);
      return;
    }
    if (alternative.alsoNeeded.length > 0) {
      this.#needAlso(alternative.alsoNeeded, attempt, (isHeld) => {
        if (isHeld) this.#pass(attempt, caller);
        else this.#tryFrom(index + 1, attempt);
      });
    } else this.#pass(attempt, caller);
  }

  /** Checks the keys that are needed beside the first, each with its scopes. */
  #needAlso([other, ...rest]: CheckedKey[], attempt: Attempt, then: (isHeld: boolean) => void): void {
    if (!other) {
      then(true);
      return;
    }
    other.identify(attempt.request, attempt.reply, (found) => {
      const missing = !found || found instanceof HttpError ? [] : missingScopes(found, other.scopes);
      if (!found) then(false);
      else if (found instanceof HttpError) attempt.done(found);
      else if (missing.length > 0) {
        attempt.state.caller = found;
        attempt.done(forbidden(missing, other, this.#options.realm));
      } else this.#needAlso(rest, attempt, then);
    });
  }

  /** Without a caller where none is needed. */
  #pass({ request, state, done }: Attempt, caller?: Caller): void {
    if (caller) caller.use.isNew = true;
    state.caller = caller;
    state.isAdmitted = true;
    this.#takeKeys?.(request);
    done();
  }

  #refuse(attempt: Attempt): void {
    const { isKeyOptional, unauthorizedRate, shares, over, realm } = this.#options;
    const { request, reply, done, denied, refused } = attempt;
    if (isKeyOptional) this.#pass(attempt);
    else if (denied) done(denied);
    else {
      const passed = () => done(unauthorized(request, this.#places, realm, refused));
      if (unauthorizedRate === undefined) passed();
      else shares.countForAddress(unauthorizedRate, reply, { passed, over });
    }
  }
}
