/** Finds request bodies that allow values which the schema of the record does not allow. */
import { objectFieldsOf, toRecords } from '../../contract/checks/records.ts';
import { isSubset } from '../../contract/subsets/subsets.ts';
import type { Operation, ReadContract, RecordSchemas } from '../../engine/contract/contract.ts';
import type { Keywords, Schema } from '../../engine/schema/json.ts';
import type { AnyDescription } from '../../store/tables/description.ts';
import { givenOf } from './envelopes.ts';
import { NotWritten, type Writing } from './handler-code.ts';

/**
 * Checks the types of a body's fields.
 * @throws NotWritten if the type of a field differs between the body and the record
 */
export function checkTypes({ plan, operation, source }: Writing): void {
  const { properties = {} } = source.flat(plan.schema);
  const { fields = {} } = givenOf(operation, plan, source) ?? {};
  for (const [name, field] of Object.entries(fields)) {
    const [given, wanted] = [typesOf(source.flat(field)), typesOf(source.flat(properties[name]))];
    if (given.length > 0 && wanted.length > 0 && !given.some((type) => wanted.includes(type)))
      throw new NotWritten(`its body has ${name} as ${given}, and ${plan.record} as ${wanted}`);
  }
}

/** Returns the types of a value in a handler. Empty if the value may have any type. */
function typesOf({ type = [], format }: Keywords): string[] {
  const types = [type].flat().filter((one) => one !== 'null');
  return types.map((one) => (one !== 'integer' ? one : format === 'int64' ? 'int64' : 'number'));
}

/** True if it is not proven that the values in all bodies fit the schema of the record. */
export function hasWiderBody(
  contract: ReadContract,
  { plan, source }: Pick<Writing, 'plan' | 'source'>,
  operations: Operation[],
  description: AnyDescription,
): boolean {
  const { shown } = toRecords(contract, { own: description }).own as RecordSchemas;
  const known = objectFieldsOf(shown);
  const optional = new Set(plan.columns.filter(({ isOptional }) => isOptional).map(({ name }) => name));
  return operations.some((operation) => {
    const content = operation.body?.contents.find(({ kind }) => kind === 'json');
    const { path } = givenOf(operation, plan, source) ?? { path: [] };
    const body = path.reduce<Schema>((schema, field) => objectFieldsOf(schema)[field] as Schema, content?.schema ?? {});
    return Object.entries(objectFieldsOf(body)).some(([name, given]) => {
      const wanted = known[name];
      if (wanted === undefined) return false;
      const isRemovable = operation.method === 'PATCH' && optional.has(name);
      return !isSubset(given, isRemovable ? { anyOf: [wanted, { type: 'null' }] } : wanted);
    });
  });
}
