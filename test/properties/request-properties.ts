/**
 * The properties of every operation: it accepts requests that the contract allows, rejects those that break a rule, and
 * requires a key with its scopes.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import fc, { type Arbitrary } from 'fast-check';
import { makeKey, toStoredKey } from '../../src/contract-first/store/api-keys.ts';
import type { ReceivedReply, Service } from '../service.ts';
import { toExact } from './json-writing.ts';
import { withKey, withWrongKey } from './keys.ts';
import { followLinks } from './links.ts';
import { type Operation, responseKeyOf } from './operations.ts';
import { type Property, toProperty } from './property.ts';
import { type Refusal, refusalsOf } from './refusals.ts';
import { type Request, requests, toCurl, toHeaders, toUrl } from './requests.ts';

/** The status of a valid request to an operation whose handler is not written yet. */
const NOT_IMPLEMENTED = 501;

/**
 * Returns the properties of all operations. Those that read come last, so that they find what the others have created.
 * @throws Error that names a rule of the contract which no generator can break yet
 */
export function requestProperties(service: Service, operations: Operation[]): Property[] {
  const isRead = ({ method }: Operation) => Number(method === 'GET');
  const inOrder = operations.toSorted((a, b) => isRead(a) - isRead(b));
  return inOrder.flatMap((operation) => {
    const refusals = refusalsOf(operation);
    return [
      accepts(service, operation, operations),
      ...refusals.map((refusal) => refuses(service, operation, refusal)),
      ...(operation.isSecured ? [asksForKey(service, operation, refusals)] : []),
      ...(operation.scopes.length > 0 ? [asksForScopes(service, operation, refusals)] : []),
    ];
  });
}

function accepts(service: Service, operation: Operation, operations: Operation[]): Property {
  const mayBeMissing =
    responseKeyOf(operation, 404)?.startsWith('4') === true &&
    operation.parameters.some((parameter) => parameter.in === 'path');
  const keys = new KeptKeys();
  return toProperty({
    name: `${operation.name} accepts what the contract allows`,
    weight: 10,
    cases: withKey(requests(operation)),
    toText: toCurl,
    holds: async (request) => {
      const reply = await send(service, request);
      if ((mayBeMissing && reply.status === 404) || reply.status === NOT_IMPLEMENTED) return;
      if (operation.parameters.some(({ isKept }) => isKept) && !keys.isNew(request, reply)) return;
      if (reply.status < 200 || reply.status > 299)
        throw new Error(`the reply is ${reply.status}, not 2xx: ${reply.text}`);
      await followLinks(service, operations, operation, reply);
    },
  });
}

function refuses(service: Service, operation: Operation, { rule, requests: cases }: Refusal): Property {
  return toProperty({
    name: `${operation.name} refuses ${rule}`,
    cases: cases.chain((refused) => withKey(fc.constant(refused.request)).map((request) => ({ ...refused, request }))),
    toText: ({ request }) => toCurl(request),
    holds: async ({ request, status, place }) => {
      const message = expectError(await send(service, request), status);
      if (!message.includes(`${place} `)) throw new Error(`the message does not name ${place}: ${message}`);
    },
  });
}

/** A request without a valid key is a 401, even if something else is wrong with it. */
function asksForKey(service: Service, operation: Operation, refusals: Refusal[]): Property {
  return toProperty({
    name: `${operation.name} answers 401 without a valid key`,
    weight: 5,
    cases: withWrongKey(requestsOfAnyKind(operation, refusals), operation),
    toText: toCurl,
    holds: async (request) => {
      expectError(await send(service, request), 401);
    },
  });
}

/** A request with a key that lacks the scopes is a 403, even if something else is wrong with it. */
function asksForScopes(service: Service, operation: Operation, refusals: Refusal[]): Property {
  const key = makeKey('petstore');
  let isKnown = false;
  return toProperty({
    name: `${operation.id} answers 403 without ${operation.scopes.join(' and ')}`,
    cases: withKey(requestsOfAnyKind(operation, refusals), key),
    toText: toCurl,
    holds: async (request) => {
      if (!isKnown) await service.store.createKey(toStoredKey(key, 'powerless', undefined, []));
      while (!isKnown && (await send(service, request)).status === 401) await wait(20);
      isKnown = true;
      expectError(await send(service, request), 403);
    },
  });
}

function requestsOfAnyKind(operation: Operation, refusals: Refusal[]): Arbitrary<Request> {
  return fc.oneof(requests(operation), ...refusals.map((refusal) => refusal.requests.map(({ request }) => request)));
}

/** Sends a request. The reply is checked against the contract. */
function send(service: Service, request: Request): Promise<ReceivedReply> {
  const { operation, body } = request;
  return service.request(toUrl(request), { method: operation.method, key: null, body, headers: toHeaders(request) });
}

/** Checks the status of an error, and returns its texts. The fields depend on the contract's form of errors. */
function expectError({ status, text, body }: ReceivedReply, expected: number): string {
  if (status !== expected) throw new Error(`the reply is ${status}, not ${expected}: ${text}`);
  // If the error is a JSON string, its characters may be escaped.
  const error = text.startsWith('"') ? JSON.parse(text) : body;
  return typeof error === 'string' ? error : Object.values(error).join(' ');
}

/**
 * Remembers which Idempotency-Keys an operation has accepted, and checks the replies to requests that use them again.
 */
export class KeptKeys {
  readonly #known = new Map<string, { body: unknown; text: string }>();

  /**
   * True if this request took effect now; always so without a key.
   * @throws Error if the reply is not the one that this key must get
   */
  isNew({ operation, header, body }: Request, { status, headers, text }: ReceivedReply): boolean {
    const name = operation.parameters.find(({ isKept }) => isKept)?.name;
    const key = new Map(header).get(name ?? '') as string | undefined;
    const known = this.#known.get(key ?? '');
    const sent = toExact(String(body));
    const isReplayed = headers['idempotency-replayed'] === 'true';
    if (!known) {
      if (key !== undefined && status < 300) this.#known.set(key, { body: sent, text });
      if (!isReplayed) return true;
    } else if (isDeepStrictEqual(known.body, sent) ? isReplayed && known.text === text : status === 422) return false;
    throw new Error(`the key ${key} has ${known ? `${known.text} already` : 'nothing yet'}, and now ${status} ${text}`);
  }
}
