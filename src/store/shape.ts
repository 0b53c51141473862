/** What is known of a collection's records beside its table: what they may be, and how their text is read. */
import { parseExactJson } from '../json/exact-json.ts';
import { toInt64 } from '../json/int64.ts';
import type { TextSource } from '../json/json-text.ts';
import type { Fields } from './collection.ts';
import type { AnyDomain } from './description.ts';
import type { Field, Table } from './table.ts';

export interface Shape extends TextSource {
  /** What is wrong with a record, each in words with its place; undefined where it fits. */
  readonly check: (record: Fields) => string[] | undefined;
  /** And with some of its fields, null where an optional one is taken away. */
  readonly checkFields: (fields: Fields) => string[] | undefined;
}

/** By the names of the collections, by the contract. */
export type Shapes<Domain extends AnyDomain = AnyDomain> = Readonly<Record<keyof Domain & string, Shape>>;

/** Of a store without a contract: all that the columns take, a record or a list of them. */
export function toPlainShape({ fields, collection }: Table): Shape {
  const namesOf = (wanted: Field['type']) => fields.filter(({ type }) => type === wanted).map(({ name }) => name);
  const [int64s, numbers] = [namesOf('int64'), namesOf('number')];
  const toExact = (record: Fields) => {
    for (const name of int64s) if (name in record) record[name] = toInt64(record[name]) ?? record[name];
    for (const name of numbers) if (typeof record[name] === 'bigint') record[name] = Number(record[name]);
    return record;
  };
  return {
    name: collection,
    check: () => undefined,
    checkFields: () => undefined,
    read: (text) => {
      const value = parseExactJson(text);
      return Array.isArray(value) ? value.map(toExact) : toExact(value as Fields);
    },
  };
}

/** A record that its schema does not allow: it is not stored. */
export class UnfitRecord extends Error {
  override name = 'UnfitRecord';
}

/** @throws UnfitRecord */
export function checkFits({ check }: Shape, noun: string, record: Fields): void {
  const problems = check(record);
  if (problems) throw new UnfitRecord(`a ${noun} that breaks its schema is not stored: ${problems.join('; ')}`);
}
