/** For `--assume`: makes a first record from the contract's example, for a collection without a written create. */
import type { DocumentSource } from '../../contract/page/source.ts';
import type { Operation } from '../../engine/contract/contract.ts';
import type { Schema } from '../../engine/schema/json.ts';
import { toInstant } from '../../json/instant.ts';
import { isStorable } from '../../store/tables/values.ts';
import type { FindAssumed } from './assumed-values.ts';
import type { CollectionPlan, PlannedColumn } from './collection-plan.ts';
import { idsIn } from './resource-paths.ts';

/** The first record of a collection: its values by the names of the fields, including internal columns. */
export type FirstRecord = Record<string, unknown>;

/** The time in a column that the store sets, if the example contains none. */
const SOME_TIME = '2026-01-01T00:00:00.000Z';

/**
 * Makes the record from the contract's example. `known` contains ids of other first records, by the names of the path
 * parameters. Returns undefined without an example, or if the example cannot be stored.
 */
export function findFirstRecord(
  plan: CollectionPlan,
  { source, findAssumed }: { source: DocumentSource; findAssumed: FindAssumed },
  known: ReadonlyMap<string, unknown>,
): FirstRecord | undefined {
  const example = findAssumed(plan.schema);
  if (typeof example !== 'object' || example === null) return undefined;
  const record: FirstRecord = { ...example };
  const { properties = {} } = source.flat(plan.schema);
  record[plan.id.name] = toId(plan, properties[plan.id.name] as Schema, record, findAssumed);
  for (const [index, { parameter, column }] of plan.scopes.entries()) {
    const schema = schemaOf(plan, (one) => idsIn(one, plan).owners[index]);
    record[column.name] = toFitting(schema, known.get(parameter) ?? record[column.name], findAssumed);
  }
  const columns = [...plan.columns, ...plan.internal];
  for (const column of columns) record[column.name] = toColumnValue(column, record[column.name]);
  const isWhole = columns.every((one) => record[one.name] !== undefined || (one.isOptional && one !== plan.id));
  return isWhole && Object.values(record).every(isStorable) ? record : undefined;
}

/**
 * Returns the id of the record: the example of the id if the parameter in the path also allows it, or else a value that
 * fits both.
 */
function toId(plan: CollectionPlan, field: Schema, record: FirstRecord, findAssumed: FindAssumed): unknown {
  const own = record[plan.id.name] ?? findAssumed(field);
  return toFitting({ allOf: [field, schemaOf(plan, (one) => idsIn(one, plan).own)] }, own, findAssumed) ?? own;
}

/** Returns the value if it fits the schema, or else an example that fits. */
const toFitting = (schema: Schema, value: unknown, findAssumed: FindAssumed): unknown =>
  findAssumed(value === undefined ? schema : { allOf: [schema], example: value });

/**
 * Returns the schema of a path parameter. `find` returns its name in an operation, or undefined if the operation's path
 * does not contain the parameter, as in a list.
 */
function schemaOf({ operations }: CollectionPlan, find: (operation: Operation) => string | undefined): Schema {
  const schemas = [...operations.values()].flatMap((one) => {
    const name = find(one);
    return one.parameters.filter((parameter) => parameter.in === 'path' && parameter.name === name);
  });
  return schemas[0]?.schema ?? true;
}

/**
 * Returns the value that the store writes into the column. Returns `value` unchanged if the store does not set the
 * column.
 */
function toColumnValue({ set }: PlannedColumn, value: unknown): unknown {
  if (set === 'revision') return 1n;
  return set === 'created' || set === 'changed' ? (toInstant(String(value)) ?? SOME_TIME) : value;
}
