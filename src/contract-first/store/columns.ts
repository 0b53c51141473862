/** Checks that a table has the columns, unique indexes and foreign keys of its description. */
import type { ColumnType } from './description.ts';
import type { Dialect } from './statement.ts';
import type { Field, Table } from './table.ts';

/** A column that the database has. */
export interface FoundColumn {
  name: string;
  type: string;
  isNotNull: boolean;
}

/**
 * A column of another type would fail requests, or lose digits. `types` has the database's type for each type of a description.
 * @throws Error that lists all differences
 */
export function checkColumns(
  { name: table, fields, sequence }: Table,
  found: FoundColumn[],
  types: Record<ColumnType, string>,
): void {
  if (found.length === 0) throw new Error(`its migrations make no table ${table}`);
  const lacksSequence = !found.some(({ name, type }) => name === sequence && type === types.int64);
  const missing = lacksSequence
    ? [`${table} has no column ${sequence} of type ${types.int64}, which its lists are ordered by`]
    : [];
  const problems = fields.flatMap(({ name, column, type, isOptional, isNullable, set }) => {
    const one = found.find(({ name }) => name === column);
    if (!one) return [`${table} has no column ${column}`];
    const own = `the column ${table}.${column}`;
    if (one.type !== types[type]) return [`${own} must be ${types[type]}, not ${one.type}`];
    return one.isNotNull && set === undefined && (isOptional || isNullable)
      ? [`${own} is NOT NULL, but ${name} may be without a value`]
      : [];
  });
  const all = fields.some(({ column }) => column === sequence) ? problems : [...missing, ...problems];
  if (all.length > 0) throw new Error(all.join('; '));
}

/** The constraints that a table has. */
export interface FoundConstraints {
  /** The columns of each unique index, in order, joined by commas. */
  unique: string[];
  /** Each foreign key as its columns, joined by commas, a space and its parent table; and ` CASCADE` if deletes cascade. */
  references: string[];
}

/** Whether the description asks for any constraint. */
export const isConstrained = ({ id, sequence, unique, relations }: Table): boolean =>
  id.column !== sequence || unique.length + relations.length > 0;

/** Without its constraints, a table would break promises, and nobody would notice. @throws Error that lists all missing ones */
export function checkConstraints(
  { name, fields, id, key, sequence, unique, relations }: Table,
  found: FoundConstraints,
  toCompared: Dialect['toCompared'],
): void {
  const sort = (columns: string) => columns.split(',').sort().join();
  const known = new Set(found.unique.map(sort));
  const toOwn = (column: string) => toCompared(fields.find((field) => field.column === column) as Field, column);
  const sets = [...(id.column === sequence ? [] : [key]), ...unique.map(({ columns }) => columns)];
  const wanted = sets.map((columns) => columns.map(toOwn));
  const indexes = wanted.filter((columns) => !known.has(columns.toSorted().join()));
  const references = new Set(found.references.map((text) => text.replace(/^\S+/, sort)));
  const keys = relations.filter(({ field, columns, parent }) => {
    return !references.has(`${columns.toSorted()} ${parent.name}${field.onDelete ? ' CASCADE' : ''}`);
  });
  const problems = [
    ...indexes.map((columns) => `${name} has no unique index on (${columns.join(', ')})`),
    ...keys.map(({ field: { onDelete }, columns, parent }) => {
      return `${name}.${columns.join(` with ${name}.`)} is no foreign key to ${parent.name} ${onDelete ? 'with' : 'without'} ON DELETE CASCADE`;
    }),
  ];
  if (problems.length > 0) throw new Error(problems.join('; '));
}
