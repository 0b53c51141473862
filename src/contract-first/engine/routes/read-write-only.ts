/** The contract's types without the fields that requests or replies must not contain. */
import type { $Read, $Write, Unmarked } from '../../json/marked.ts';
import type { operations } from '../../registered.ts';

export type OperationId = keyof operations;

/**
 * The type of a schema in a request, where read-only fields are missing, and in a reply, where write-only fields are
 * missing.
 */
export type InRequest<T> = Unmarked<T, $Read<unknown>>;
export type InReply<T> = Unmarked<T, $Write<unknown>>;

export type IsJson<Type> = MediaType<Type> extends `${string}/json` | `${string}+json` ? true : false;

/** A media type of the contract as the server sends it: in lower case, without parameters, and JSON for a range. */
export type MediaType<Name> = Name extends '*/*' | 'application/*'
  ? 'application/json'
  : Name extends `${infer Type};${string}`
    ? Lowercase<Type>
    : Lowercase<Name & string>;
