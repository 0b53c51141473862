/** The types of the contract as a request or a reply has them. */
import type { operations } from '../../registered.ts';
import type { Bytes } from '../requests/form-parts.ts';

/** The marks of read-only and write-only fields, as openapi-typescript writes them. */
interface $Read<T> {
  readonly $read: T;
}
interface $Write<T> {
  readonly $write: T;
}

export type OperationId = keyof operations;

/** A schema's type in a request, without its read-only fields, and in a reply, without its write-only ones. */
export type InRequest<T> = Directed<T, $Read<unknown>>;
export type InReply<T> = Directed<T, $Write<unknown>>;
type Directed<T, Hidden> = T extends $Read<infer Inside> | $Write<infer Inside>
  ? Directed<Inside, Hidden>
  : T extends Bytes
    ? T
    : T extends readonly unknown[]
      ? number extends T['length']
        ? Directed<T[number], Hidden>[]
        : { [Index in keyof T]: Directed<T[Index], Hidden> }
      : T extends object
        ? { [Key in keyof T as IsHidden<T[Key], Hidden> extends true ? never : Key]: Directed<T[Key], Hidden> }
        : T;
type IsHidden<T, Hidden> = [NonNullable<T>] extends [never] ? false : [NonNullable<T>] extends [Hidden] ? true : false;

export type IsJson<Type> = MediaType<Type> extends `${string}/json` | `${string}+json` ? true : false;

/** A media type of the contract as it is served: without parameters, and ranges as JSON. */
export type MediaType<Name> = Name extends '*/*' | 'application/*'
  ? 'application/json'
  : Name extends `${infer Type};${string}`
    ? Lowercase<Type>
    : Lowercase<Name & string>;
