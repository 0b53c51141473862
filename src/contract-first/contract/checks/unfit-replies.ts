/**
 * Compares stored records with the replies that contain them, because a record that does not fit its reply would cause
 * a 500.
 */
import type { Operation, Reply } from '../../engine/contract/contract.ts';
import { keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { mergeAllOf } from '../../engine/schema/value-types.ts';
import { toPointerOf } from '../../json/pointer.ts';
import { findLimit } from '../read/parameters.ts';
import { isSubset } from '../subsets/subsets.ts';
import { type Compared, findUnfit, findWitness } from '../subsets/witnesses.ts';
import { type Finding, findCollection, setBy, toFindings } from './findings.ts';
import { objectFieldsOf, type RecordSchema, successesOf, toClosed } from './records.ts';
import { recordsFor } from './sample-records.ts';

/** Finds fields of records that do not fit a reply. If all fields fit, compares whole records and lists of records. */
export function findUnfitReplies(operation: Operation, all: RecordSchema[], compared: Compared): Finding[] {
  return successesOf(operation.replies).flatMap((reply) => {
    const { collection, isWhole = false } = findCollection(all, objectFieldsOf(reply.schema)) ?? {};
    if (!collection) return [];
    const ofFields = findUnfitFields(reply, collection, isWhole, compared);
    return ofFields.length > 0 ? ofFields : findUnfitRecords(operation, reply, collection, isWhole, compared);
  });
}

const toWords = (
  { status, type }: Reply,
  { description: { schema } }: RecordSchema,
  field: string | undefined,
  isCertain: boolean,
) => ({
  location: `response ${status}: body${field === undefined ? '' : `.${field}`}`,
  at: toPointerOf('responses', status, 'content', type, 'schema', ...(field === undefined ? [] : [field])),
  proven: `may be stored by schema ${schema}, and not sent`,
  unproven: `cannot be proven to take what schema ${schema} stores`,
  isCertain,
});

function findUnfitFields(reply: Reply, collection: RecordSchema, isCertain: boolean, compared: Compared): Finding[] {
  const [known, fields] = [objectFieldsOf(collection.stored), objectFieldsOf(reply.schema)];
  return Object.entries(collection.description.columns).flatMap(([field, column]) => {
    const [given, wanted] = [known[field], fields[field]] as [Schema, Schema];
    const values = keywordsOf(wanted).hidden ? [] : setBy(column);
    const witness = values && findWitness(values, given, wanted, compared);
    const found = witness ? [{ path: '', witness }] : [];
    const words = toWords(reply, collection, field, isCertain);
    return toFindings(values ? found : findUnfit(given, wanted, compared), words);
  });
}

/**
 * Finds records that break a reply's rules over several fields or over a list. Finds nothing if the types of a field
 * differ, because then the handler converts the record.
 */
function findUnfitRecords(
  { method, parameters }: Operation,
  reply: Reply,
  collection: RecordSchema,
  isWhole: boolean,
  compared: Compared,
): Finding[] {
  const closed = toClosed(collection.stored);
  const fits = (outer: Schema, toInner: (record: Schema) => Schema) =>
    [collection.stored, closed].some((record) => isSubset(toInner(record), outer, compared.steps));
  const isList = mergeAllOf(reply.schema).items !== undefined;
  const isProven = fits(reply.schema, (items) => (isList ? { type: 'array', items } : items));
  if (isProven || compared.steps.left <= 0) return [];
  const record = { allOf: [closed, collection.stored] };
  const { required = [] } = mergeAllOf(collection.stored);
  const [fields, wanted] = [objectFieldsOf(collection.stored), objectFieldsOf(reply.schema)];
  const records = recordsFor({ ...collection.description, fields, wanted, required }, compared);
  if (records.length === 0) return [];
  const [given, values] = isList
    ? [{ type: 'array', items: record }, [[], ...records.map((one) => [one])]]
    : [record, records];
  const witness = findWitness(values, given, reply.schema, compared);
  // If the list that breaks the reply is empty, this is an error only for a page of records. Other lists may never be
  // empty.
  const isPage = method === 'GET' && findLimit(parameters) !== undefined;
  const isCertain = isWhole && (isPage || JSON.stringify(witness?.value) !== '[]');
  return toFindings([{ path: '', witness }], toWords(reply, collection, undefined, isCertain));
}
