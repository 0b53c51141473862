/** Finds bodies that allow values which the schema of their record does not. */
import { objectFieldsOf, toRecords } from '../../contract/checks/records.ts';
import { isSubset } from '../../contract/subsets/subsets.ts';
import type { Operation, ReadContract, RecordSchemas } from '../../engine/contract/contract.ts';
import type { Schema } from '../../engine/schema/json.ts';
import type { AnyDescription } from '../../store/tables/description.ts';
import { givenOf } from './envelopes.ts';
import type { Writing } from './handler-code.ts';

/** Whether a body may contain a value that the record's schema does not allow, or whether this cannot be ruled out. */
export function hasWiderBody(
  contract: ReadContract,
  { plan, source }: Pick<Writing, 'plan' | 'source'>,
  operations: Operation[],
  description: AnyDescription,
): boolean {
  const { shown } = toRecords(contract, { own: description }).own as RecordSchemas;
  const known = objectFieldsOf(shown);
  return operations.some((operation) => {
    const content = operation.body?.contents.find(({ kind }) => kind === 'json');
    const { path } = givenOf(operation, plan, source) ?? { path: [] };
    const body = path.reduce<Schema>((schema, field) => objectFieldsOf(schema)[field] as Schema, content?.schema ?? {});
    return Object.entries(objectFieldsOf(body)).some(([name, given]) => {
      const wanted = known[name];
      return wanted !== undefined && !isSubset(given, { anyOf: [wanted, { type: 'null' }] });
    });
  });
}
