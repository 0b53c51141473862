/** The SQL of a migration that inserts one record, for both databases. */
import { toSqlLiteral } from '../../json/literals.ts';
import type { Column } from '../../store/tables/description.ts';
import type { DatabaseKind } from '../../store/tables/migrations.ts';
import { toJsonText } from '../../store/tables/table.ts';

/** A column, with its name in the table (`column`) and the name of its field (`name`). */
type InsertedColumn = Pick<Column, 'type'> & {
  name: string;
  column: string;
  isOptional?: boolean;
  isNullable?: boolean;
};

/**
 * Writes the migration, with a comment above the statement. The names of the table and of the columns are plain
 * identifiers, so they are not quoted.
 */
export function writeInsert(
  { table, columns, comment }: { table: string; columns: readonly InsertedColumn[]; comment: string },
  record: Readonly<Record<string, unknown>>,
  kind: DatabaseKind,
): string {
  const names = columns.map(({ column }) => column).join(', ');
  const values = columns.map((column) => toSql(column, record[column.name], kind)).join(', ');
  return `-- ${comment}\nINSERT INTO ${table} (${names})\nVALUES (${values});\n`;
}

function toSql({ type, isOptional, isNullable }: InsertedColumn, value: unknown, kind: DatabaseKind): string {
  // A JSON field that may be both absent and null is stored as the text `null` if it is null, and as NULL if it is
  // absent.
  const isAbsent = value === undefined || (value === null && !(type === 'json' && isOptional && isNullable));
  if (isAbsent) return 'NULL';
  if (type === 'json') return toSqlLiteral(toJsonText(value));
  if (type === 'boolean') return kind === 'postgres' ? String(value) : String(Number(value));
  if (type === 'number') return kind === 'postgres' ? toJsonText(value) : toSqlLiteral(toJsonText(value));
  return type === 'int64' || type === 'int32' ? toJsonText(value) : toSqlLiteral(String(value));
}
