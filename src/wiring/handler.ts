/** Types only: what a handler is given, `Call<'getPet'>`, and what it may answer, `Answer<'getPet'>`, as the contract says. */
import type { operations } from '../generated/contract.ts';
import type { JsonText } from '../json/json-text.ts';
import type { Store } from '../store/store.ts';

export type OperationId = keyof operations;

type ParametersOf<Id extends OperationId> = operations[Id]['parameters'];
export type PathOf<Id extends OperationId> = Present<ParametersOf<Id>['path']>;
export type QueryOf<Id extends OperationId> = Present<ParametersOf<Id>['query']>;
type BodyOf<Id extends OperationId> = ContentOf<Present<operations[Id]['requestBody']>>;
type Present<T> = [T] extends [undefined] ? Record<never, never> : Exclude<T, undefined>;
type ContentOf<T> = T extends { content: { 'application/json': infer Body } } ? Body : undefined;

/**
 * Makes the URL of an operation, with its prefix: `urlOf('getPet', { petId: 1n })` is `/v1/pets/1`. The changes take the
 * place of what the query says.
 */
export type UrlOf = <Id extends OperationId>(
  id: Id,
  params: PathOf<Id>,
  query?: Partial<QueryOf<Id>>,
  changes?: Partial<QueryOf<Id>>,
) => string;

/** A request that has passed the contract: parameters and body have their types, defaults are filled in. */
export interface Call<Id extends OperationId> {
  params: PathOf<Id>;
  query: QueryOf<Id>;
  body: BodyOf<Id>;
  store: Store;
  urlOf: UrlOf;
}

/** The headers that the server itself puts on every reply for which the contract declares them. */
type ServerHeaders = 'X-Request-Id' | 'WWW-Authenticate' | 'Retry-After' | 'Deprecation' | 'Sunset';
type SuccessorLink<Headers> = Headers extends { Sunset: unknown } ? 'Link' : never;
type Declared<Headers> = {
  [Name in keyof Headers as string extends Name
    ? never
    : Name extends ServerHeaders | SuccessorLink<Headers>
      ? never
      : Name]: Headers[Name];
};
type WithHeaders<Headers> = Record<never, never> extends Headers ? { headers?: Headers } : { headers: Headers };
type Responses<Id extends OperationId> = operations[Id]['responses'];
type AnswerOf<Status, Response> = Response extends { headers: infer Headers }
  ? { status: Status; body: ContentOf<Response> | JsonText<ContentOf<Response>> } & WithHeaders<Declared<Headers>>
  : never;

/** A declared status with its body and headers; anything else does not compile. */
export type Answer<Id extends OperationId> = {
  [Status in keyof Responses<Id> & number]: AnswerOf<Status, Responses<Id>[Status]>;
}[keyof Responses<Id> & number];

export type Handler<Id extends OperationId> = (call: Call<Id>) => Answer<Id> | Promise<Answer<Id>>;
