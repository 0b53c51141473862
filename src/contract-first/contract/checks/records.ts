/**
 * Finds the schemas of stored records, the replies that fit every stored record, and fields of requests that would be
 * lost.
 */
import type { Body, Content, Operation, ReadContract, RecordSchemas, Reply } from '../../engine/contract/contract.ts';
import type { Document } from '../../engine/contract/document.ts';
import { inAllTypes } from '../../engine/contract/replies.ts';
import type { BuildCheck } from '../../engine/schema/checks.ts';
import { keywordsOf, type ReportProblem, type Schema } from '../../engine/schema/json.ts';
import { mergeAllOf } from '../../engine/schema/value-types.ts';
import { toPointerOf } from '../../json/pointer.ts';
import type { AnyDescription, AnyDomain, ColumnType } from '../../store/tables/description.ts';
import { resolveOf } from '../read/references.ts';
import { partsOf } from '../subsets/impossible.ts';
import { isSubset } from '../subsets/subsets.ts';

/**
 * Returns the schemas of records by collection. Omits a collection if its schema is not in the contract, because such a
 * collection stores nothing.
 */
export function toRecords(contract: ReadContract, domain: AnyDomain): Record<string, RecordSchemas> {
  const { document } = contract;
  const all = Object.entries(domain).flatMap(([name, { schema, columns, internal }]): [string, RecordSchemas][] => {
    const shown = schema === undefined ? toFreeSchema(document, columns) : findSchema(contract, schema);
    return shown === undefined ? [] : [[name, { shown, internal: internal && toFreeSchema(document, internal) }]];
  });
  return Object.fromEntries(all);
}

/**
 * Finds a schema by its name in a description: a component such as `Book`, the successful reply of an operation such as
 * `getBook()`, or a field of this reply such as `getBook().data`.
 */
function findSchema({ document, operations }: ReadContract, name: string): Schema | undefined {
  if (document.components?.schemas?.[name] !== undefined) return schemaOf(document, name);
  const [id = '', path] = name.split('()');
  const success = path === undefined ? undefined : successesOf(operations.get(id)?.replies ?? [])[0];
  const fields = path?.split('.').slice(1) ?? [];
  return fields.reduce<Schema | undefined>((found, field) => found && objectFieldsOf(found)[field], success?.schema);
}

/**
 * The schema of a column's values by the type of the column, for columns without a schema of the contract in the
 * description.
 */
const FREE: Record<ColumnType, Schema> = {
  int64: { type: 'integer', format: 'int64' },
  int32: { type: 'integer', format: 'int32' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  text: { type: 'string' },
  uuid: { type: 'string' },
  time: { type: 'string', format: 'date-time' },
  json: {},
};

/**
 * Returns a closed object schema for columns that the contract does not describe: all columns of a collection without a
 * schema in the contract, or internal columns.
 */
function toFreeSchema(document: Document, columns: AnyDescription['columns']): Schema {
  const properties = Object.entries(columns).map(([name, { schema, type, isNullable }]): [string, Schema] => {
    const value = schema === undefined ? FREE[type] : schemaOf(document, schema);
    return [name, isNullable ? { anyOf: [value, { type: 'null' }] } : value];
  });
  const required = Object.keys(columns).filter((name) => !columns[name]?.isOptional);
  return { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false };
}

/** Returns a component schema with its references replaced. Returns an empty schema if the component does not exist. */
export function schemaOf(document: Document, name: string): Schema {
  const schema = { $ref: `#/components/schemas/${name}` } as Schema;
  return resolveOf(document)({ schema }, () => {}).schema;
}

/**
 * Finds the schemas of replies that every record of a collection, or every list of its records, is proven to fit. The
 * server sends such replies without a check.
 */
export function findProven(
  operations: ReadonlyMap<string, Operation>,
  records: Readonly<Record<string, RecordSchemas>>,
): Record<string, Schema[]> {
  const replies = [...operations.values()].flatMap((operation) => inAllTypes(operation.replies));
  const schemas = [...new Set(replies.filter(({ isJson }) => isJson).map(({ schema }) => schema))];
  const proven = Object.entries(records).map(([name, { shown }]) => {
    const record = toClosed(shown);
    const isProven = (schema: Schema) => isSubset(record, schema) || isSubset({ type: 'array', items: record }, schema);
    return [name, schemas.filter(isProven)];
  });
  return Object.fromEntries(proven);
}

/**
 * Returns the record's schema as one closed object. A closed subschema in `allOf` would forbid the fields of the other
 * subschemas.
 */
export function toClosed(stored: Schema): Schema {
  const { properties = {}, required = [] } = mergeAllOf(stored);
  return { type: 'object', properties, required, additionalProperties: false };
}

/** The description of a collection with a schema in the contract, and the resolved schema of its records. */
export interface RecordSchema {
  description: AnyDescription & { schema: string };
  stored: Schema;
}

interface Unstorable {
  values: unknown[];
  words: string;
}

/** For each type of column, sample values that a column of this type cannot store. */
const UNSTORABLE: { [Type in ColumnType]?: Unstorable } = {
  time: {
    values: ['x', '2026-01-01', '12:00:00Z', '2026-01-01T12:00:00', '2026-13-01T12:00:00Z'],
    words:
      'allows texts other than instants, which a column of times cannot store: give it format: date-time, or the column the type text',
  },
  int32: {
    values: [1.5, 2 ** 31, -(2 ** 31) - 1],
    words:
      'allows numbers other than 32-bit integers, which its column cannot store: give it type: integer and format: int32',
  },
};

/**
 * Reports fields with values that their column cannot store. Skips fields that the store sets, and collections with a
 * schema that lacks a column.
 */
export function reportUnstorableFields(
  { description: { schema, columns }, stored }: RecordSchema,
  buildCheck: BuildCheck,
  report: ReportProblem,
): void {
  const { properties = {} } = mergeAllOf(stored);
  if (!hasColumns(columns, properties)) return;
  for (const [name, field] of Object.entries(properties)) {
    const { type, set } = columns[name] ?? {};
    const unstorable = type && UNSTORABLE[type];
    if (!unstorable || set !== undefined) continue;
    const location = `schema ${schema}: field ${name}`;
    const check = buildCheck(field, { name: location }, () => {});
    const least = keywordsOf(field).minLength ?? 1;
    const isTaken = (value: unknown) => !check(typeof value === 'string' ? value.padStart(least, 'x') : value);
    const pointer = toPointerOf('components', 'schemas', schema, name);
    if (unstorable.values.some(isTaken)) report(`${location}: ${unstorable.words}`, pointer);
  }
}

/**
 * Reports fields of a JSON body that would be lost silently. The operation replies with a record, but the record lacks
 * the field, so the field is neither stored nor sent back. If only the handler needs the field, the contract marks it
 * with `writeOnly`.
 */
export function reportUnstoredFields(
  { body, replies }: Operation,
  { table, columns }: AnyDescription,
  report: ReportProblem,
): void {
  // Searches the schemas of all media types of a reply, because a handler may send the record as XML, for example.
  const record = inAllTypes(replies)
    .filter(isSuccess)
    .map(({ schema }) => objectFieldsOf(schema))
    .find((fields) => hasColumns(columns, fields));
  const contents = recordsIn(body);
  // Skips a media type after the first one if its schema has none of the columns, because the handler may convert it.
  const isOther = (schema: Schema) =>
    schema !== contents[0]?.schema && Object.keys(objectFieldsOf(schema)).every((name) => !(name in columns));
  for (const { type, schema } of record ? contents.filter((one) => !isOther(one.schema)) : []) {
    const gone = Object.entries(objectFieldsOf(schema)).filter(([name, field]) => {
      const { writeOnly, hidden } = mergeAllOf(field);
      return !(name in (record as object)) && !writeOnly && !hidden;
    });
    for (const [name] of gone) {
      const advice = 'give the record this field, or the field writeOnly: true if the handler alone needs it';
      report(
        `its body.${name}: no column of ${table} keeps it, and the reply does not have it: ${advice}`,
        toPointerOf('requestBody', 'content', type, 'schema', name),
      );
    }
  }
}

/**
 * Returns the JSON contents of a body that may be records. Omits JSON Patch (RFC 6902), because its body is a list of
 * changes.
 */
export const recordsIn = (body: Body | undefined): Content[] =>
  body?.contents.filter(({ kind, type }) => kind === 'json' && type !== 'application/json-patch+json') ?? [];

const isSuccess = ({ status }: Reply) => status.startsWith('2');

/** Returns the successful JSON replies, which may contain a stored record. */
export const successesOf = (replies: Reply[]): Reply[] =>
  inAllTypes(replies).filter((reply) => reply.isJson && isSuccess(reply));

/**
 * Returns the fields of an object, or of the items of a list. A field in several subschemas of `allOf` must fit all of
 * them.
 */
export function objectFieldsOf(schema: Schema): Record<string, Schema> {
  const { properties, items } = mergeAllOf(schema);
  if (!properties) return items === undefined ? {} : objectFieldsOf(items);
  const parts = partsOf(schema, (keyword) => keyword === 'allOf');
  const saidOf = (name: string) => [
    ...new Set(parts.flatMap(({ properties: own = {} }) => (Object.hasOwn(own, name) ? [own[name] as Schema] : []))),
  ];
  return Object.fromEntries(
    Object.keys(properties).map((name) => {
      const [first = true, ...others] = saidOf(name);
      return [name, others.length === 0 ? first : { allOf: [first, ...others] }];
    }),
  );
}

/** True if each of the columns is among the fields. */
export const hasColumns = (columns: object, fields: object) => Object.keys(columns).every((name) => name in fields);
