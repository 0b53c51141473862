/** What is true of every operation: it accepts what the contract allows, refuses what breaks a rule, and demands a key with its scopes. */
import { setTimeout as wait } from 'node:timers/promises';
import fc, { type Arbitrary } from 'fast-check';
import { makeKey, toStoredKey } from '../../src/access/api-keys.ts';
import { KEY, type Received, type Service } from '../service.ts';
import { followLinks } from './links.ts';
import { type Operation, responseKeyOf } from './operations.ts';
import { type Property, toProperty } from './property.ts';
import { type Refusal, refusalsOf } from './refusals.ts';
import { type Request, requests, toCurl, toHeaders, toUrl } from './requests.ts';

/**
 * Operations that read come last, so that they find what the others have made.
 * @throws Error that names a rule of the contract which nothing here can break yet
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
  return toProperty({
    name: `${operation.name} accepts what the contract allows`,
    weight: 10,
    cases: requests(operation),
    toText: (request) => toCurl(request, rightful(operation)),
    holds: async (request) => {
      const reply = await send(service, request, rightful(operation));
      if (mayBeMissing && reply.status === 404) return;
      if (reply.status < 200 || reply.status > 299)
        throw new Error(`the reply is ${reply.status}, not 2xx: ${reply.text}`);
      await followLinks(service, operations, operation, reply);
    },
  });
}

function refuses(service: Service, operation: Operation, { rule, requests: cases }: Refusal): Property {
  return toProperty({
    name: `${operation.name} refuses ${rule}`,
    cases,
    toText: ({ request }) => toCurl(request, rightful(operation)),
    holds: async ({ request, status, place }) => {
      const message = expectError(await send(service, request, rightful(operation)), status);
      if (!message.includes(`${place} `)) throw new Error(`the message does not name ${place}: ${message}`);
    },
  });
}

/** A caller without a key learns nothing, even if something else is wrong with the request. */
function asksForKey(service: Service, operation: Operation, refusals: Refusal[]): Property {
  return toProperty({
    name: `${operation.name} asks for a key`,
    weight: 5,
    cases: fc.record({ request: requestsOfAnyKind(operation, refusals), authorization: wrongful() }),
    toText: ({ request, authorization }) => toCurl(request, authorization),
    holds: async ({ request, authorization }) => {
      expectError(await send(service, request, authorization), 401);
    },
  });
}

/** Nor does a caller whose key may not do this. */
function asksForScopes(service: Service, operation: Operation, refusals: Refusal[]): Property {
  const key = makeKey();
  const authorization = `Bearer ${key}`;
  let isKnown = false;
  return toProperty({
    name: `${operation.id} asks for ${operation.scopes.join(' and ')}`,
    cases: requestsOfAnyKind(operation, refusals),
    toText: (request) => toCurl(request, 'Bearer <a key without scopes>'),
    holds: async (request) => {
      if (!isKnown) await service.store.createKey(toStoredKey(key, 'powerless', undefined, []));
      while (!isKnown && (await send(service, request, authorization)).status === 401) await wait(20);
      isKnown = true;
      expectError(await send(service, request, authorization), 403);
    },
  });
}

function requestsOfAnyKind(operation: Operation, refusals: Refusal[]): Arbitrary<Request> {
  return fc.oneof(requests(operation), ...refusals.map((refusal) => refusal.requests.map(({ request }) => request)));
}

const rightful = ({ isSecured }: Operation) => (isSecured ? `Bearer ${KEY}` : undefined);

function wrongful(): Arbitrary<string | undefined> {
  const near = ['Bearer', KEY, `Basic ${KEY}`, `Bearer ${KEY}0`, `Bearer ${KEY.slice(1)}`];
  const made = fc.stringMatching(/^[\w.~+/-]+=?$/).map((token) => `Bearer ${token}`);
  return fc.oneof(fc.constantFrom(undefined, ...near), made);
}

/** The reply is checked against the contract on the way. */
function send(service: Service, request: Request, authorization: string | undefined): Promise<Received> {
  const { operation, body } = request;
  const sent = { ...toHeaders(request), ...(authorization !== undefined && { authorization }) };
  return service.request(toUrl(request), { method: operation.method, key: null, body, headers: sent });
}

/** The message of the error. */
function expectError({ status, text, body }: Received, expected: number): string {
  if (status !== expected) throw new Error(`the reply is ${status}, not ${expected}: ${text}`);
  return (body as { message: string }).message;
}
