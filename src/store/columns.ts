/** Whether a table is the one that is described, with its columns, indexes and foreign keys. */
import type { ColumnType } from './description.ts';
import type { Dialect } from './statement.ts';
import type { Field, Table } from './table.ts';

/** A column that the database has. */
export interface FoundColumn {
  name: string;
  type: string;
  isNotNull: boolean;
}

/** One of another type would fail a request, or lose digits. `types` are those that the database has for each type of a description. @throws Error that lists all that differs */
export function checkColumns(
  { name: table, fields, sequence }: Table,
  found: FoundColumn[],
  types: Record<ColumnType, string>,
): void {
  if (found.length === 0) throw new Error(`its migrations make no table ${table}`);
  const lacksSequence = !found.some(({ name, type }) => name === sequence && type === types.int64);
  const missing = lacksSequence ? [`${table} has no column ${sequence}, ${types.int64}, which pages go by`] : [];
  const problems = fields.flatMap(({ name, column, type, isOptional, isNullable }) => {
    const one = found.find(({ name }) => name === column);
    if (!one) return [`${table} has no column ${column}`];
    const own = `the column ${table}.${column}`;
    if (one.type !== types[type]) return [`${own} must be ${types[type]}, not ${one.type}`];
    return one.isNotNull && (isOptional || isNullable)
      ? [`${own} is NOT NULL, but ${name} may be without a value`]
      : [];
  });
  const all = fields.some(({ column }) => column === sequence) ? problems : [...missing, ...problems];
  if (all.length > 0) throw new Error(all.join('; '));
}

/** What a table holds its rows to. */
export interface FoundConstraints {
  /** The columns of each unique index, in their order, with commas. */
  unique: string[];
  /** Of each foreign key its columns, with commas, behind a space the table that it refers to, and `CASCADE` where rows go with those there. */
  references: string[];
}

/** Whether the table has any of them, by its description. */
export const isConstrained = ({ id, sequence, unique, relations }: Table): boolean =>
  id.column !== sequence || unique.length + relations.length > 0;

/** Without them, what is promised would not hold, and nobody would notice. @throws Error that lists all that are missing */
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
