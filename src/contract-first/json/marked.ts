/** The marks that openapi-typescript gives to read-only (`$Read`) and write-only (`$Write`) fields. */
export interface $Read<T> {
  readonly $read: T;
}
export interface $Write<T> {
  readonly $write: T;
}

/** The type `T` without marks, and without the fields that are marked as `Hidden`. A stream of bytes keeps its type. */
export type Unmarked<T, Hidden = never> = T extends $Read<infer Inside> | $Write<infer Inside>
  ? Unmarked<Inside, Hidden>
  : T extends AsyncIterable<Uint8Array>
    ? T
    : T extends readonly unknown[]
      ? number extends T['length']
        ? Unmarked<T[number], Hidden>[]
        : { [Index in keyof T]: Unmarked<T[Index], Hidden> }
      : T extends object
        ? { [Key in keyof T as IsHidden<T[Key], Hidden> extends true ? never : Key]: Unmarked<T[Key], Hidden> }
        : T;
type IsHidden<T, Hidden> = [NonNullable<T>] extends [never] ? false : [NonNullable<T>] extends [Hidden] ? true : false;
