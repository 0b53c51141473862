/**
 * Compares what a request may have with the record that it becomes, the record with the replies that have it, and both with what the store
 * sets: a value that fits one and not the next would be answered with 500.
 */
import type { Operation } from '../../engine/contract/contract.ts';
import { namesIn } from '../../engine/contract/path-names.ts';
import { keywordsOf, type ReportProblem, type Schema } from '../../engine/schema/json.ts';
import { mergeAllOf } from '../../engine/schema/value-types.ts';
import type { Column } from '../../store/tables/description.ts';
import { isSubset } from '../subsets/subsets.ts';
import { type Checking, type Compared, findUnfit, findWitness, type Unfit } from '../subsets/witnesses.ts';
import { hasColumns, objectFieldsOf, type RecordSchema, successesOf } from './records.ts';

interface Finding {
  words: string;
  /** Whether it is an error: a value is proven not to fit, and there is no doubt that it is stored, or answered. */
  isCertain: boolean;
}

/** How many comparisons the proofs of one contract may take: some seconds. */
const MOST_STEPS = 100_000;

/** Reports what is proven wrong to `report`, and what cannot be proven to `warn`. */
export function reportUnfitRecords(
  operations: Operation[],
  collections: RecordSchema[],
  checking: Checking,
  { report, warn }: { report: ReportProblem; warn: ReportProblem },
): void {
  const compared = { ...checking, steps: { left: MOST_STEPS } };
  // A collection of another contract is skipped.
  const all = collections.filter(({ description: { columns }, stored }) => hasColumns(columns, objectFieldsOf(stored)));
  for (const collection of all) ofStore(collection, checking).forEach(report);
  for (const operation of operations) {
    const findings = [...ofRequest(operation, operations, all, compared), ...ofReplies(operation, all, compared)];
    for (const { words, isCertain } of findings) (isCertain ? report : warn)(`operation ${operation.id}: ${words}`);
  }
  if (compared.steps.left <= 0)
    warn(
      `requests, records and replies are compared in ${MOST_STEPS} steps, and not all were: their schemas are too large`,
    );
}

const TIMES = ['1970-01-01T00:00:00.000Z', '2026-12-31T23:59:59.999Z'];
const UUIDS = ['01234567-89ab-4cde-8f01-23456789abcd', 'fedcba98-7654-4321-bfed-cba987654321'];
/** Of ids and revisions, which begin with 1. */
const NUMBERS = [1, 1_000_000];

/** Values that the store itself puts into a column; undefined where a handler gives them. */
function setBy({ set, type }: Column): readonly unknown[] | undefined {
  if (type === 'time' || set === 'created' || set === 'changed') return TIMES;
  if (set === 'revision' || (set === 'id' && type === 'int64')) return NUMBERS;
  return set === 'id' ? UUIDS : undefined;
}

function ofStore({ description: { schema, columns }, stored }: RecordSchema, checking: Checking): string[] {
  const fields = objectFieldsOf(stored);
  return Object.entries(columns).flatMap(([name, column]) => {
    const values = setBy(column) ?? (column.first === undefined ? [] : [column.first]);
    const witness = findWitness(values, true, fields[name] as Schema, checking);
    if (!witness) return [];
    return `schema ${schema}: field ${name}: the store writes ${show(witness.value)}, which is refused: ${witness.problem}`;
  });
}

function show(value: unknown): string {
  if (typeof value === 'string' && value.length > 40) return `a text of ${value.length} characters`;
  return JSON.stringify(value, (_name, one) => (typeof one === 'bigint' ? String(one) : one));
}

interface Words {
  location: string;
  /** After a value. */
  proven: string;
  unproven: string;
  isCertain: boolean;
}

const toFindings = (all: Unfit[], { location, proven, unproven, isCertain }: Words): Finding[] =>
  all.map(({ path, witness }) => ({
    words: `${location}${path}: ${witness ? `${show(witness.value)} ${proven}: ${witness.problem}` : unproven}`,
    isCertain: isCertain && witness !== undefined,
  }));

/** The collection whose records have all these fields, and whether they have no others. */
export function findCollection(
  all: RecordSchema[],
  fields: object,
): { collection: RecordSchema; isWhole: boolean } | undefined {
  const sizeOf = (of: object) => Object.keys(of).length;
  const found = all.filter(({ description: { columns } }) => hasColumns(columns, fields));
  const [collection] = found.sort((one, other) => sizeOf(other.description.columns) - sizeOf(one.description.columns));
  return collection && { collection, isWhole: sizeOf(collection.description.columns) === sizeOf(fields) };
}

/** The record that a request becomes: its reply has it, or that of a GET of the same path. */
function findRecord(operation: Operation, operations: Operation[], all: RecordSchema[]) {
  const reading = operations.filter(({ method, path }) => method === 'GET' && path === operation.path);
  const replies = [operation, ...reading].flatMap(({ replies }) => successesOf(replies));
  return replies.map(({ schema }) => findCollection(all, objectFieldsOf(schema))).find((found) => found);
}

function ofRequest(operation: Operation, operations: Operation[], all: RecordSchema[], compared: Compared): Finding[] {
  const { method, body } = operation;
  const contents = body?.contents.filter(({ kind }) => kind === 'json') ?? [];
  const found = /^(POST|PUT|PATCH)$/.test(method) ? findRecord(operation, operations, all) : undefined;
  if (!found) return [];
  return contents.flatMap(({ schema }) => ofBody(operation, schema, found, compared));
}

function ofBody(
  { method, path, parameters }: Operation,
  schema: Schema,
  { collection, isWhole }: { collection: RecordSchema; isWhole: boolean },
  compared: Compared,
): Finding[] {
  const { columns, schema: name } = collection.description;
  const {
    properties: known = {},
    type: _type,
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
  const compare = (given: Schema, field: string, location: string) =>
    toFindings(findUnfit(given, known[field] as Schema, compared), { ...words, location });
  const findings = Object.entries(fields).flatMap(([field, given]) => {
    const column = columns[field];
    // Objects are merged with the stored ones, and refused by the store.
    const isMerged = method === 'PATCH' && [mergeAllOf(given).type].flat().includes('object');
    return !column || setBy(column) || column.set || isMerged ? [] : compare(given, field, `its body.${field}`);
  });
  const ids = Object.entries(columns).filter(([field, { is }]) => is && method === 'PUT' && !(field in fields));
  const chosen = parameters.filter((one) => one.in === 'path' && one.name === namesIn(path).at(-1));
  for (const [id] of ids) {
    for (const { name, schema } of chosen) findings.push(...compare(schema, id, `parameter ${name}`));
  }
  const made = { ...mergeAllOf(schema), properties: { ...known, ...fields } };
  if (!isSubset(made, rules, compared.steps)) findings.push({ words: `its body: ${words.unproven}`, isCertain: false });
  return findings;
}

function ofReplies(operation: Operation, all: RecordSchema[], compared: Compared): Finding[] {
  return successesOf(operation.replies).flatMap(({ status, schema }) => {
    const fields = objectFieldsOf(schema);
    const { collection, isWhole } = findCollection(all, fields) ?? {};
    if (!collection) return [];
    const { schema: name, columns } = collection.description;
    const known = objectFieldsOf(collection.stored);
    return Object.entries(columns).flatMap(([field, column]) => {
      const [given, wanted] = [known[field], fields[field]] as [Schema, Schema];
      const values = keywordsOf(wanted).hidden ? [] : setBy(column);
      const witness = values && findWitness(values, given, wanted, compared);
      const found = witness ? [{ path: '', witness }] : [];
      return toFindings(values ? found : findUnfit(given, wanted, compared), {
        location: `response ${status}: body.${field}`,
        proven: `may be stored by schema ${name}, and not sent`,
        unproven: `cannot be proven to take what schema ${name} stores`,
        isCertain: isWhole === true,
      });
    });
  });
}
