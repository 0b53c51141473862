/** The codec of a collection: it checks the collection's records, and parses them from JSON text. */
import { parseExactJson } from '../../json/exact-json.ts';
import { toInt64 } from '../../json/exact-number.ts';
import type { TextSource } from '../../json/json-text.ts';
import { markWhole } from '../../json/whole-records.ts';
import type { Fields } from '../collection.ts';
import type { AnyDomain } from './description.ts';
import type { Field, Table } from './table.ts';

/** The codec of a collection. `read` parses records without their internal columns, as clients see them. */
export interface RecordCodec extends TextSource {
  /** Parses records with their internal columns. */
  readonly whole: TextSource;
  /**
   * Checks a record. Returns its problems as texts, each with the location in the record; undefined if the record fits.
   */
  readonly check: (record: Fields) => string[] | undefined;
  /**
   * Checks the fields of an update; null removes an optional field. Returns the problems as texts; undefined if the
   * fields fit.
   */
  readonly checkFields: (fields: Fields) => string[] | undefined;
}

/** The codecs of all collections, by name. */
export type RecordCodecs<Domain extends AnyDomain = AnyDomain> = Readonly<Record<keyof Domain & string, RecordCodec>>;

/** Makes a codec without a contract. Every record fits; only the columns of the table restrict the records. */
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

/**
 * Makes the parsers of JSON text that contains a record or a list of records. `toExact` converts the numbers of a
 * record to their types.
 */
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

/** Thrown if a record breaks its schema. The record was not stored. */
export class UnfitRecord extends Error {
  override name = 'UnfitRecord';
}

export interface StoredTable {
  table: Table;
  codec: RecordCodec;
}

/**
 * Combines each table with its codec. For a collection without a codec, records are only restricted by the types of the
 * columns.
 */
export const toStoredTables = (tables: readonly Table[], codecs: RecordCodecs): StoredTable[] =>
  tables.map((table) => ({ table, codec: codecs[table.collection] ?? toPlainCodec(table) }));

/** For each type, an id that no record has. */
export const NO_ID: { [Type in Field['type']]?: unknown } = { int64: 0n, text: '', uuid: '' };
