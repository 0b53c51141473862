/**
 * Compares the schemas that a value passes on its way through the service: the schema of the request, that of the
 * stored record, and those of the replies that contain the record. Values that the store itself writes are compared as
 * well. If a value fits one schema but not the next, a request would be answered with 500.
 */
import type { Content, Operation } from '../../engine/contract/contract.ts';
import { namesIn } from '../../engine/contract/path-names.ts';
import type { Check } from '../../engine/schema/checks.ts';
import type { ContractProblem, ReportProblem, Schema } from '../../engine/schema/json.ts';
import { mergeAllOf } from '../../engine/schema/value-types.ts';
import { toPointerOf } from '../../json/pointer.ts';
import type { Column } from '../../store/tables/description.ts';
import { reportInOperation } from '../read/operations.ts';
import { isSubset } from '../subsets/subsets.ts';
import { type Checking, type Compared, findUnfit, findWitness, type Witness } from '../subsets/witnesses.ts';
import { type Finding, findCollection, setBy, show, toFindings } from './findings.ts';
import { hasColumns, objectFieldsOf, type RecordSchema, recordsIn, successesOf } from './records.ts';
import { recordsFor } from './sample-records.ts';
import { findUnfitReplies } from './unfit-replies.ts';

/** The maximum number of comparisons for the proofs of one contract, which take some seconds. */
const MOST_STEPS = 100_000;

/**
 * Passes a problem to `report` if a value is known that does not fit, and to `warn` if there is neither such a value
 * nor a proof. A reply is also only a warning if its operation is not implemented, because then no record is sent.
 */
export function reportUnfitRecords(
  operations: Operation[],
  collections: RecordSchema[],
  { unimplemented, ...checking }: Checking & { unimplemented: ReadonlySet<string> | undefined },
  { report, warn }: { report: ReportProblem; warn: ReportProblem },
): void {
  const compared = { ...checking, steps: { left: MOST_STEPS } };
  // Skips a collection if the schema of its records lacks a column, because the collection then belongs to another
  // contract.
  const all = collections.filter(({ description: { columns }, stored }) => hasColumns(columns, objectFieldsOf(stored)));
  for (const { words, pointer } of all.flatMap((one) => ofStore(one, checking))) report(words, pointer);
  for (const operation of operations) {
    const findings = [
      ...ofRequest(operation, operations, all, compared),
      ...findUnfitReplies(operation, all, compared).map((finding) => ({
        ...finding,
        isCertain: finding.isCertain && !unimplemented?.has(operation.id),
      })),
    ];
    for (const { words, pointer, isCertain } of findings)
      reportInOperation(isCertain ? report : warn, operation)(words, pointer);
  }
  if (compared.steps.left <= 0)
    warn(
      `requests, records and replies are compared in ${MOST_STEPS} steps, and not all were: their schemas are too large`,
    );
}

function ofStore({ description: { schema, columns }, stored }: RecordSchema, checking: Checking): ContractProblem[] {
  const fields = objectFieldsOf(stored);
  return Object.entries(columns).flatMap(([name, column]) => {
    const values = setBy(column) ?? (column.first === undefined ? [] : [column.first]);
    const witness = findWitness(values, true, fields[name] as Schema, checking);
    if (!witness) return [];
    const words = `schema ${schema}: field ${name}: the store writes ${show(witness.value)}, which does not fit: ${witness.problem}`;
    return { words, pointer: toPointerOf('components', 'schemas', schema, name) };
  });
}

/**
 * Finds the collection that stores the body of a request. The record of this collection is in the reply to the request,
 * or in the reply to a GET of the same path.
 */
function findRecord(operation: Operation, operations: Operation[], all: RecordSchema[]) {
  const reading = operations.filter(({ method, path }) => method === 'GET' && path === operation.path);
  const replies = [operation, ...reading].flatMap(({ replies }) => successesOf(replies));
  return replies.map(({ schema }) => findCollection(all, objectFieldsOf(schema))).find((found) => found);
}

function ofRequest(operation: Operation, operations: Operation[], all: RecordSchema[], compared: Compared): Finding[] {
  const { method, body } = operation;
  const found = /^(POST|PUT|PATCH)$/.test(method) ? findRecord(operation, operations, all) : undefined;
  if (!found || found.collection.description.unfit === 400) return [];
  return recordsIn(body).flatMap((content) => ofBody(operation, content, found, compared));
}

function ofBody(
  { method, path, parameters }: Operation,
  { type, schema }: Content,
  { collection, isWhole }: { collection: RecordSchema; isWhole: boolean },
  compared: Compared,
): Finding[] {
  const { columns, schema: name } = collection.description;
  const known = objectFieldsOf(collection.stored);
  const {
    properties: _properties,
    type: _kind,
    required: _required,
    additionalProperties: _others,
    ...rules
  } = mergeAllOf(collection.stored);
  const fields = objectFieldsOf(schema);
  const isGiven = ([name, { set, is, isOptional, first }]: [string, Column]) =>
    name in fields || set !== undefined || isOptional || first !== undefined || (is === 'id' && method === 'PUT');
  const isCertain = isWhole && (method === 'PATCH' || Object.entries(columns).every(isGiven));
  const words = {
    proven: `is let in, and not stored by schema ${name}`,
    unproven: `cannot be proven to fit schema ${name}, which stores it`,
    isCertain,
  };
  const at = toPointerOf('requestBody', 'content', type, 'schema');
  const compare = (given: Schema, field: string, place: { location: string; at: string }) =>
    toFindings(findUnfit(given, known[field] as Schema, compared), { ...words, ...place });
  const findings = Object.entries(fields).flatMap(([field, given]) => {
    const column = columns[field];
    // The store merges an object in the body of a PATCH into the stored object, and checks only the merged object.
    const isMerged = method === 'PATCH' && [mergeAllOf(given).type].flat().includes('object');
    const place = { location: `its body.${field}`, at: at + toPointerOf(field) };
    return !column || setBy(column) || column.set || isMerged ? [] : compare(given, field, place);
  });
  const ids = Object.entries(columns).filter(([field, { is }]) => is && method === 'PUT' && !(field in fields));
  const chosen = parameters.filter((one) => one.in === 'path' && one.name === namesIn(path).at(-1));
  for (const [id] of ids) {
    for (const { name, schema } of chosen)
      findings.push(...compare(schema, id, { location: `parameter ${name}`, at: toPointerOf('parameters', name) }));
  }
  const made = { ...mergeAllOf(schema), properties: { ...known, ...fields } };
  if (isSubset(made, rules, compared.steps)) return findings;
  const isNew = method === 'POST' && findings.length === 0 && compared.steps.left > 0;
  const witness = isNew ? findUnstored(schema, collection, compared) : undefined;
  return [...findings, ...toFindings([{ path: '', witness }], { ...words, location: 'its body', at })];
}

/**
 * Finds a body that the request's schema accepts, although the record made from it breaks a rule over several fields of
 * the record's schema.
 */
function findUnstored(
  schema: Schema,
  { description: { columns }, stored }: RecordSchema,
  compared: Compared,
): Witness | undefined {
  const [own, known] = [objectFieldsOf(schema), objectFieldsOf(stored)];
  const isFilled = (name: string) => columns[name]?.set || columns[name]?.first !== undefined;
  const names = Object.keys(known).filter((name) => name in own || isFilled(name));
  const fields = Object.fromEntries(names.map((name) => [name, (own[name] ?? known[name]) as Schema]));
  const isThere = (name: string) => isFilled(name) || mergeAllOf(fields[name] as Schema).default !== undefined;
  const required = [...(mergeAllOf(schema).required ?? []), ...names.filter(isThere)];
  const [check, checkStored] = [schema, stored].map((one) =>
    compared.buildCheck(one, { name: 'it', at: '/it' }, () => {}),
  ) as [Check, Check];
  for (const record of recordsFor({ columns, fields, wanted: known, required }, compared)) {
    const value = Object.fromEntries(Object.entries(record).filter(([name]) => name in own));
    const [problem] = check(value) ? [] : (checkStored(record) ?? []);
    if (problem) return { value, problem: String(problem) };
  }
  return undefined;
}
