/** Types only: what a store keeps of a pet, held against the contract by the compiler. */
import type { NewPet, Pet } from './store.ts';

type Fields = Pet & NewPet;

/** `integer` has 64 bits. A value that is neither does not compile, nor does a field that was made required or optional. */
interface KeptField<Value> {
  type: NonNullable<Value> extends bigint ? 'integer' : NonNullable<Value> extends string ? 'text' : never;
  isRequired: undefined extends Value ? false : true;
}

/**
 * What a store's table of columns satisfies: every field of the contract's Pet and NewPet, and no other, so that none is lost
 * in silence. No table does where the contract lets a pet have any field.
 */
export type KeptFields<Column> = string extends keyof Fields
  ? never
  : { [Name in keyof Required<Fields>]: KeptField<Fields[Name]> & Column };
