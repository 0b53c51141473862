/** The column of each field of a pet. What is read, written and answered is made from this table. */
import type { KeptFields } from '../fields.ts';
import type { NewPet, Pet } from '../store.ts';

export const COLUMNS = {
  id: { column: 'id', type: 'integer', isRequired: true },
  name: { column: 'name', type: 'text', isRequired: true },
  categoryId: { column: 'category_id', type: 'integer', isRequired: true },
  status: { column: 'status', type: 'text', isRequired: false },
} as const satisfies KeptFields<{ column: string }>;

export type Field = keyof typeof COLUMNS;

/** The fields that are written; PostgreSQL assigns the id. */
export const NEW_FIELDS = (Object.keys(COLUMNS) as Field[]).filter((field) => field !== 'id');

/** A row of pets as the contract's JSON: fields that are NULL are left out. */
export const PET_JSON = `'{' || ${Object.keys(COLUMNS)
  .map((field, index) => toJsonSql(field as Field, index === 0 ? '' : ','))
  .join(' || ')} || '}'`;

function toJsonSql(field: Field, comma: string): string {
  const { column, type, isRequired } = COLUMNS[field];
  const member = `'${comma}"${field}":' || ${type === 'text' ? `to_json(${column})::text` : column}`;
  return isRequired ? member : `coalesce(${member}, '')`;
}

/** The pet as it is stored: its id, and every field with a column. */
export function toWritten(id: bigint, pet: NewPet): NewPet & Pick<Pet, 'id'> {
  const written: Partial<Record<Field, unknown>> = { id };
  for (const field of NEW_FIELDS) if (pet[field] !== undefined) written[field] = pet[field];
  return written as NewPet & Pick<Pet, 'id'>;
}
