/** Types only: lets the compiler check a store's columns against the contract's fields. */
import type { NewPet, Pet } from './store.ts';

type Fields = Pet & NewPet;

/** `integer` has 64 bits. A value of another type does not compile, nor does a field that became required or optional. */
interface KeptField<Value> {
  type: NonNullable<Value> extends bigint ? 'integer' : NonNullable<Value> extends string ? 'text' : never;
  isRequired: undefined extends Value ? false : true;
}

/**
 * What a store's table of columns must satisfy: it has every field of the contract's Pet and NewPet, and no other, so that no
 * field is lost. Where the contract allows fields that it does not name, no table compiles.
 */
export type KeptFields<Column> = string extends keyof Fields
  ? never
  : { [Name in keyof Required<Fields>]: KeptField<Fields[Name]> & Column };
