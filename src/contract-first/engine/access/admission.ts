/** Tries the operation's security requirements in order; the first whose keys the request has admits it. */
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Rate } from '../../store/store.ts';
import type { KeyPlace, NeededKey, Requirement } from '../contract/contract.ts';
import type { HttpError } from '../errors.ts';
import { type RequestState, stateOf } from '../request-state.ts';
import { type Caller, type Identify, missingScopes } from './caller.ts';
import { forbidden, placesOf, unauthorized } from './challenges.ts';
import type { RateLimits, RefuseOver } from './rate-limits.ts';
import { takeFromQuery } from './sent-keys.ts';

export interface AdmissionOptions {
  /** The alternatives, of which one is enough. */
  security: Requirement[];
  realm: string;
  identifyBy: (place: KeyPlace) => Identify;
  /** How often an address may send requests without a valid key. */
  unauthorizedRate: Rate | undefined;
  shares: RateLimits;
  over: RefuseOver;
  isKeyOptional: boolean;
}

interface HeldKey extends NeededKey {
  /** Notes the caller. */
  identify: Identify;
}

type Alternative = HeldKey & { alsoNeeded: HeldKey[] };

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
    const identifies = new Map(this.#places.map((place) => [place, identifyBy(place)]));
    const toHeld = (key: NeededKey): HeldKey => ({ ...key, identify: identifies.get(key.place) as Identify });
    this.#alternatives = security.map((alternative) => ({
      ...toHeld(alternative),
      alsoNeeded: alternative.alsoNeeded.map(toHeld),
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
    alternative.identify(request, reply, (failure, refused) => {
      const { caller } = state;
      if (refused !== undefined) attempt.refused = refused;
      if (failure) done(failure);
      else if (!caller) this.#tryFrom(index + 1, attempt);
      else if (caller.rate === undefined || attempt.counted === caller.counted) this.#admit(caller, index, attempt);
      else {
        attempt.counted = caller.counted;
        const passed = () => this.#admit(caller, index, attempt);
        this.#options.shares.countForCaller(caller.counted, caller.rate, reply, { passed, over: this.#options.over });
      }
    });
  }

  /** Admits the request by this alternative, or tries the next one where scopes are missing. */
  #admit(caller: Caller, index: number, attempt: Attempt): void {
    const alternative = this.#alternatives[index] as Alternative;
    const missing = missingScopes(caller, alternative.scopes);
    if (missing.length > 0) {
      attempt.denied ??= forbidden(missing, alternative, this.#options.realm);
      this.#tryFrom(index + 1, attempt);
    } else if (alternative.alsoNeeded.length === 0) this.#pass(caller, attempt);
    else {
      this.#needAlso(alternative.alsoNeeded, attempt, (failure, isHeld) => {
        attempt.state.caller = caller;
        if (failure) attempt.done(failure);
        else if (isHeld) this.#pass(caller, attempt);
        else this.#tryFrom(index + 1, attempt);
      });
    }
  }

  /** Checks the keys that are needed beside the first, each with its scopes. */
  #needAlso(
    [other, ...rest]: HeldKey[],
    attempt: Attempt,
    done: (failure?: HttpError, isHeld?: boolean) => void,
  ): void {
    if (!other) {
      done(undefined, true);
      return;
    }
    const { request, state, reply } = attempt;
    other.identify(request, reply, (failure) => {
      const { caller } = state;
      const missing = caller ? missingScopes(caller, other.scopes) : [];
      if (failure || !caller) done(failure, false);
      else if (missing.length > 0) done(forbidden(missing, other, this.#options.realm));
      else this.#needAlso(rest, attempt, done);
    });
  }

  #pass(caller: Caller, { request, state, done }: Attempt): void {
    caller.use.isNew = true;
    state.isAdmitted = true;
    this.#takeKeys?.(request);
    done();
  }

  #refuse({ request, state, reply, done, denied, refused }: Attempt): void {
    const { isKeyOptional, unauthorizedRate, shares, over, realm } = this.#options;
    if (isKeyOptional) {
      state.caller = undefined;
      state.isAdmitted = true;
      this.#takeKeys?.(request);
      done();
    } else if (denied) done(denied);
    else {
      const passed = () => done(unauthorized(request, this.#places, realm, refused));
      if (unauthorizedRate === undefined) passed();
      else shares.countForAddress(unauthorizedRate, reply, { passed, over });
    }
  }
}
