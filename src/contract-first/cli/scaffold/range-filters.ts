/**
 * Finds the parameters that filter a list by a range of a field. The parameters are recognised by name and type:
 * `createdAfter`, `maxPrice`, or `from` and `to`.
 */
import type { DocumentSource } from '../../contract/page/source.ts';
import type { Parameter } from '../../engine/contract/contract.ts';
import { type Keywords, keywordsOf } from '../../engine/schema/json.ts';
import { type CheckedCode, member, toObjectLiteral } from '../generate/source-text.ts';
import type { CollectionPlan, PlannedColumn } from './collection-plan.ts';
import { plain, wordsOf } from './envelopes.ts';

/** A parameter with the lower or the upper end of a range. */
export interface RangeFilter {
  parameter: Parameter;
  column: PlannedColumn;
  end: 'from' | 'above' | 'below' | 'upTo';
}

const ENDS: [end: RangeFilter['end'], words: RegExp][] = [
  ['from', /^(from|since|start|starting|begin|min|minimum|gte|ge)$/],
  ['above', /^(after|above|over|gt)$/],
  ['below', /^(before|below|under|lt)$/],
  ['upTo', /^(to|until|till|end|ending|max|maximum|lte|le)$/],
];

/** Matches words that mean any time, and not that of a certain field. */
const ANY_TIME = /^(|date|time|datetime|timestamp|at|on)$/;
const SUFFIX = /(at|on|date|time)$/;

/** Finds the range filters of a list. If two parameters may mean the same end of a range, neither is a filter. */
export function findRanges(queries: Parameter[], plan: CollectionPlan, source: DocumentSource): RangeFilter[] {
  const found = queries.flatMap((parameter) => findRange(parameter, plan, source) ?? []);
  const isOther = (one: RangeFilter) => (other: RangeFilter) =>
    one !== other && one.column === other.column && isLower(one) === isLower(other);
  return found.filter((one) => !found.some(isOther(one)));
}

const isLower = ({ end }: RangeFilter) => end === 'from' || end === 'above';

function findRange(parameter: Parameter, plan: CollectionPlan, source: DocumentSource): RangeFilter | undefined {
  const words = wordsOf(parameter.name);
  const ends = ENDS.flatMap(([end, known]) => words.filter((word) => known.test(word)).map((word) => ({ end, word })));
  const [only] = ends;
  if (!only || ends.length > 1 || keywordsOf(parameter.schema).default !== undefined) return undefined;
  if (plan.columns.some((one) => plain(one.name) === plain(parameter.name))) return undefined;
  const [column, ...others] = columnsFor(words.filter((word) => word !== only.word).join(''), plan, source);
  const type = toRangeType(keywordsOf(parameter.schema));
  const isFit = column && others.length === 0 && type !== undefined && type === typeOf(column, plan, source);
  return isFit ? { parameter, column, end: only.end } : undefined;
}

/**
 * Returns the columns that a parameter may mean. `name` is the parameter's name without the word for the end, such as
 * `max`.
 */
function columnsFor(name: string, plan: CollectionPlan, source: DocumentSource): PlannedColumn[] {
  const columns = plan.columns.filter((one) => one !== plan.id && one.type !== 'json' && !one.isNullable);
  const exact = columns.filter((one) => plain(one.name) === name);
  if (exact.length > 0) return exact;
  const times = columns.filter((one) => /^date/.test(typeOf(one, plan, source) ?? ''));
  return ANY_TIME.test(name) ? times : times.filter((one) => plain(one.name).replace(SUFFIX, '') === name);
}

function typeOf({ name }: PlannedColumn, { schema }: CollectionPlan, source: DocumentSource): string | undefined {
  return toRangeType(source.flat(source.flat(schema).properties?.[name]));
}

/**
 * Returns the type of the values in a range. Returns undefined for values without a known order, such as free texts.
 */
function toRangeType({ type, format, enum: listed }: Keywords): string | undefined {
  if (listed) return undefined;
  if (type === 'string') return /^date(-time)?$/.test(`${format}`) ? format : undefined;
  if (type === 'integer' && format === 'int64') return 'int64';
  return type === 'integer' || type === 'number' ? 'number' : undefined;
}

/**
 * Writes the ranges of a query, one for each field. Gives columns that are compared with date-times the type `time`.
 */
export function toRangeQuery(filters: RangeFilter[]): [name: string, range: CheckedCode][] {
  return [...new Set(filters.map(({ column }) => column))].map((column) => {
    const own = filters.filter((one) => one.column === column);
    if (own.some(({ parameter }) => keywordsOf(parameter.schema).format === 'date-time')) column.type = 'time';
    return [column.name, toObjectLiteral(own.map(({ end, parameter: { name } }) => [end, member('query', name)]))];
  });
}
