/** The types of the contract in the form of requests or replies. */
import type { $Read, $Write, Unmarked } from '../../json/marked.ts';
import type { operations } from '../../registered.ts';

export type OperationId = keyof operations;

/** A schema's type in a request, without its read-only fields, and in a reply, without its write-only ones. */
export type InRequest<T> = Unmarked<T, $Read<unknown>>;
export type InReply<T> = Unmarked<T, $Write<unknown>>;

export type IsJson<Type> = MediaType<Type> extends `${string}/json` | `${string}+json` ? true : false;

/** A media type of the contract as it is served: without parameters, and ranges as JSON. */
export type MediaType<Name> = Name extends '*/*' | 'application/*'
  ? 'application/json'
  : Name extends `${infer Type};${string}`
    ? Lowercase<Type>
    : Lowercase<Name & string>;
