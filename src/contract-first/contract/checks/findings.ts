/** Writes the text of problems with stored records. Also lists examples of the values that the store itself writes. */
import type { ContractProblem } from '../../engine/schema/json.ts';
import type { Column } from '../../store/tables/description.ts';
import type { Unfit } from '../subsets/witnesses.ts';
import { hasColumns, type RecordSchema } from './records.ts';

export interface Finding extends ContractProblem {
  /**
   * True for an error, false for a warning. The finding is an error if the check has found a value that does not fit,
   * and if this value would certainly be stored or sent.
   */
  isCertain: boolean;
}

interface Words {
  location: string;
  /** The JSON Pointer to `location`. */
  at: string;
  /** The words that follow an example of a value that does not fit: `is let in, and not stored by schema Book`. */
  proven: string;
  /** The words if no example is known: `cannot be proven to fit schema Book, which stores it`. */
  unproven: string;
  isCertain: boolean;
}

export const toFindings = (all: Unfit[], { location, at, proven, unproven, isCertain }: Words): Finding[] =>
  all.map(({ path, witness }) => ({
    pointer: at + path.replaceAll('.', '/'),
    words: `${location}${path}: ${witness ? `${show(witness.value)} ${proven}: ${witness.problem}` : unproven}`,
    isCertain: isCertain && witness !== undefined,
  }));

/**
 * Finds the collection with columns that are all among the given fields. If there are several such collections, returns
 * the one with the most columns. `isWhole` is true if each of the given fields is a column.
 */
export function findCollection(
  all: RecordSchema[],
  fields: object,
): { collection: RecordSchema; isWhole: boolean } | undefined {
  const sizeOf = (of: object) => Object.keys(of).length;
  const found = all.filter(({ description: { columns } }) => hasColumns(columns, fields));
  const [collection] = found.sort((one, other) => sizeOf(other.description.columns) - sizeOf(one.description.columns));
  return collection && { collection, isWhole: sizeOf(collection.description.columns) === sizeOf(fields) };
}

export function show(value: unknown): string {
  if (typeof value === 'string' && value.length > 40) return `a text of ${value.length} characters`;
  return JSON.stringify(value, (_name, one) => (typeof one === 'bigint' ? String(one) : one));
}

const TIMES = ['1970-01-01T00:00:00.000Z', '2026-12-31T23:59:59.999Z'];
const UUIDS = ['01234567-89ab-4cde-8f01-23456789abcd', 'fedcba98-7654-4321-bfed-cba987654321'];
/** Examples of ids and revisions, which start at 1. */
const NUMBERS = [1, 1_000_000];

/**
 * Returns examples of the values that the store itself writes into a column. Returns undefined if handlers provide the
 * values.
 */
export function setBy({ set, type }: Column): readonly unknown[] | undefined {
  if (type === 'time' || set === 'created' || set === 'changed') return TIMES;
  if (set === 'revision' || (set === 'id' && type === 'int64')) return NUMBERS;
  return set === 'id' ? UUIDS : undefined;
}
