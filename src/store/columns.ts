/** Whether a table is the one that is described: a column of another type would fail a request, or lose digits. */
import type { ColumnType } from './description.ts';
import type { Table } from './table.ts';

/** A column that the database has. */
export interface FoundColumn {
  name: string;
  type: string;
  isNotNull: boolean;
}

/** `types` are those that the database has for each type of a description. @throws Error that lists all that differs */
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
