/** The column of each field of a pet, in every store. What is read, written and answered is made from this table. */
import type { KeptFields } from './fields.ts';
import type { NewPet, Pet } from './store.ts';

export const COLUMNS = {
  id: { column: 'id', type: 'integer', isRequired: true },
  name: { column: 'name', type: 'text', isRequired: true },
  categoryId: { column: 'category_id', type: 'integer', isRequired: true },
  status: { column: 'status', type: 'text', isRequired: false },
} as const satisfies KeptFields<{ column: string }>;

export type Field = keyof typeof COLUMNS;

export const FIELDS = Object.keys(COLUMNS) as Field[];

/** The fields that are written; the database assigns the id. */
export const NEW_FIELDS = FIELDS.filter((field) => field !== 'id');

/** What differs between databases in SQL that writes JSON. */
export interface JsonDialect {
  /** The text of a column as a JSON string. */
  quote(column: string): string;
  /** The text, or '' where the column is NULL. */
  unlessNull(column: string, text: string): string;
}

/** SQL: a row of pets as the contract's JSON, without the fields that are NULL. */
export function toPetJson({ quote, unlessNull }: JsonDialect): string {
  const members = Object.entries(COLUMNS).map(([field, { column, type, isRequired }], index) => {
    const member = `'${index === 0 ? '' : ','}"${field}":' || ${type === 'text' ? quote(column) : column}`;
    return isRequired ? member : unlessNull(column, member);
  });
  return `'{' || ${members.join(' || ')} || '}'`;
}

/** The pet as it is stored: its id, and every field with a column. */
export function toWritten(id: bigint, pet: NewPet): NewPet & Pick<Pet, 'id'> {
  const written: Partial<Record<Field, unknown>> = { id };
  for (const field of NEW_FIELDS) if (pet[field] !== undefined) written[field] = pet[field];
  return written as NewPet & Pick<Pet, 'id'>;
}
