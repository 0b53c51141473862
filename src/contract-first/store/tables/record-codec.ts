/** The codec of a collection: it checks records, and reads them from JSON text. */
import { parseExactJson } from '../../json/exact-json.ts';
import { toInt64 } from '../../json/exact-number.ts';
import type { TextSource } from '../../json/json-text.ts';
import { markWhole } from '../../json/whole-records.ts';
import type { Fields } from '../collection.ts';
import type { AnyDomain } from './description.ts';
import type { Field, Table } from './table.ts';

/** The codec of a collection. The method `read` reads records as clients see them. */
export interface RecordCodec extends TextSource {
  /** Reads whole records: with their internal columns. */
  readonly whole: TextSource;
  /** Returns the problems of a record, each in words with its location; undefined if the record fits. */
  readonly check: (record: Fields) => string[] | undefined;
  /** Returns the problems of the fields of an update, where null removes an optional field; undefined if they fit. */
  readonly checkFields: (fields: Fields) => string[] | undefined;
}

/** The codecs of all collections, by name. */
export type RecordCodecs<Domain extends AnyDomain = AnyDomain> = Readonly<Record<keyof Domain & string, RecordCodec>>;

/** Makes the codec of a store without a contract: every record fits if the columns accept it. */
export function toPlainCodec({ fields, internal, collection }: Table): RecordCodec {
  const namesOf = (wanted: Field['type']) => fields.filter(({ type }) => type === wanted).map(({ name }) => name);
  const [int64s, numbers] = [namesOf('int64'), namesOf('number')];
  const toExact = (record: Fields) => {
    for (const name of int64s) if (name in record) record[name] = toInt64(record[name]) ?? record[name];
    for (const name of numbers) if (typeof record[name] === 'bigint') record[name] = Number(record[name]);
    return record;
  };
  const { read, whole } = toSources(collection, internal, (value) => toExact(value as Fields));
  return { name: collection, read, whole, check: () => undefined, checkFields: () => undefined };
}

/** Makes the readers of JSON text with a record, or a list of records. `toExact` converts the numbers of a record to their types. */
export function toSources(
  name: string,
  internal: readonly string[],
  toExact: (record: unknown) => unknown,
): TextSource & Pick<RecordCodec, 'whole'> {
  const readWith = (toRead: (record: unknown) => unknown) => (text: string) => {
    const value = parseExactJson(text);
    return Array.isArray(value) ? value.map(toRead) : toRead(value);
  };
  const shown = { name, read: readWith(toExact) };
  if (internal.length === 0) return { ...shown, whole: shown };
  const toWhole = (record: unknown) => record && markWhole(toExact(record) as Fields, internal);
  return { ...shown, whole: { name: `${name} whole`, isWhole: true, read: readWith(toWhole) } };
}

/** The error of a record that breaks its schema. The record is not stored. */
export class UnfitRecord extends Error {
  override name = 'UnfitRecord';
}

export interface StoredTable {
  table: Table;
  codec: RecordCodec;
}

/** Adds the codec to each table. Without a codec, only the column types check records. */
export const toStoredTables = (tables: readonly Table[], codecs: RecordCodecs): StoredTable[] =>
  tables.map((table) => ({ table, codec: codecs[table.collection] ?? toPlainCodec(table) }));

/** An id of each type that no record has. */
export const NO_ID: { [Type in Field['type']]?: unknown } = { int64: 0n, text: '', uuid: '' };
