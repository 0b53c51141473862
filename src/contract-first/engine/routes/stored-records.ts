/**
 * Connects stored records with the contract: checks records before they are stored, parses them when they are read, and
 * checks all records at the start.
 */
import type { Fields } from '../../store/collection.ts';
import type { Contents } from '../../store/store.ts';
import type { AnyDescription, AnyDomain } from '../../store/tables/description.ts';
import { type RecordCodec, toSources } from '../../store/tables/record-codec.ts';
import { type Contract, ContractError, type RecordSchemas } from '../contract/contract.ts';
import { sha256Of } from '../contract/finished.ts';
import { buildToBigints } from '../schema/bigints.ts';
import { buildChecks, type Check } from '../schema/checks.ts';
import { int64sOf } from '../schema/int64-map.ts';
import type { Schema } from '../schema/json.ts';
import { ANNOTATION } from '../schema/keys.ts';
import { mergeAllOf } from '../schema/value-types.ts';

/**
 * Checks all records in the store against the contract.
 * @throws ContractError with the number of records that do not fit
 */
export async function checkStoredRecords(
  contract: Pick<Contract, 'records' | 'digest'>,
  domain: AnyDomain,
  store: Contents,
): Promise<void> {
  const codecs = buildCodecs(contract, domain);
  const invalidRecords = new Map<string, { count: number; first: string }>();
  const fits = (text: string, collection: string): boolean => {
    const { noun } = domain[collection] as AnyDescription;
    const { whole, check } = codecs[collection] as RecordCodec;
    const record = whole.read(text) as Fields;
    const problems = check(record);
    if (!problems) return true;
    const known = invalidRecords.get(collection) ?? { count: 0, first: toFirst(noun, record, problems) };
    invalidRecords.set(collection, { ...known, count: known.count + 1 });
    return false;
  };
  await store.countInvalidRecords(toDigest(contract.digest, domain), fits);
  const advice = 'correct them, or undo the edit of the contract';
  const problems = [...invalidRecords].map(([name, { count, first }]) => {
    const { schema } = domain[name] as AnyDescription;
    return `stored ${name} that do not fit its ${schema ? `schema ${schema}` : 'columns'}: ${count} (${first}); ${advice}`;
  });
  if (problems.length > 0) throw new ContractError(problems);
}

function toFirst(noun: string, record: Fields | null, problems: string[]): string {
  return `${noun} ${record?.id}: ${problems.join('; ')}`;
}

/**
 * Returns a digest of the rules that stored records must fit: of the contract, and of the columns that the contract
 * does not describe.
 */
function toDigest(contract: string, domain: AnyDomain): string {
  const free = Object.entries(domain).flatMap(([collection, { schema, columns, internal = {} }]) =>
    Object.entries(schema ? internal : columns).map(([name, { type, schema: own, isOptional, isNullable }]) => [
      ...[collection, name, type, own, isOptional, isNullable],
    ]),
  );
  return free.length > 0 ? sha256Of(contract + JSON.stringify(free)) : contract;
}

/**
 * Builds the codecs of all collections. The checks of a codec are only compiled when its first record is read or
 * written.
 */
export function buildCodecs<Domain extends AnyDomain>(
  contract: Pick<Contract, 'records'>,
  domain: Domain,
): Record<keyof Domain & string, RecordCodec> {
  const codecs = Object.entries(domain).map(([name, description]) => [name, buildCodec(contract, description, name)]);
  return Object.fromEntries(codecs);
}

/**
 * Used in place of the schemas of a collection that the contract does not contain. No records of such a collection are
 * stored.
 */
const NO_SCHEMAS: RecordSchemas = { shown: {} };

function buildCodec(
  { records }: Pick<Contract, 'records'>,
  { schema, columns, internal = {} }: AnyDescription,
  collection: string,
): RecordCodec {
  const { shown, internal: hidden } = records[collection] ?? NO_SCHEMAS;
  const name = schema ?? collection;
  let made: Omit<RecordCodec, 'name'> | undefined;
  const make = () => {
    const buildCheck = buildChecks();
    const toCheck = (schema: Schema) => inWords(buildCheck(schema, { name, int64s: int64sOf(schema) }, () => {}));
    const toBigints = (schema: Schema) => buildToBigints(int64sOf(schema)) ?? ((value: unknown) => value);
    const [toShownBigints, toHiddenBigints] = [toBigints(shown), toBigints(hidden ?? {})];
    const names = Object.keys(internal);
    const checkShown = toCheck(shown);
    const toFieldsCheck = (schema: Schema) =>
      buildCheckFields(schema, { ...columns, ...internal }, (one) => buildCheck(one, { name }, () => {}));
    return {
      ...toSources(collection, names, (record) => toHiddenBigints(toShownBigints(record))),
      check: hidden ? inParts(names, checkShown, toCheck(hidden)) : checkShown,
      checkFields: hidden ? inParts(names, toFieldsCheck(shown), toFieldsCheck(hidden)) : toFieldsCheck(shown),
    };
  };
  const codec = () => {
    made ??= make();
    return made;
  };
  const own = { name: collection, read: (text: string) => codec().read(text) };
  return {
    ...own,
    whole: hidden ? { name: `${collection} whole`, isWhole: true, read: (text) => codec().whole.read(text) } : own,
    check: (record) => codec().check(record),
    checkFields: (fields) => codec().checkFields(fields),
  };
}

type CheckRecord = RecordCodec['check'];

/**
 * Builds the check of a record with internal fields. The fields that clients see are checked against the contract, and
 * the internal fields against the description of their columns.
 */
function inParts(internal: string[], checkShown: CheckRecord, checkHidden: CheckRecord): CheckRecord {
  return (record) => {
    const [shown, hidden]: [Fields, Fields] = [{}, {}];
    for (const [name, value] of Object.entries(Object(record)))
      (internal.includes(name) ? hidden : shown)[name] = value;
    const problems = [checkShown(shown), checkHidden(hidden)].flatMap((found) => found ?? []);
    return problems.length > 0 ? problems : undefined;
  };
}

const inWords = (check: Check) => (value: unknown) => check(value)?.map(String);

/** Matches keywords that apply to each field separately. */
const OF_ONE = /^(type|properties|required|additionalProperties|unevaluatedProperties)$/;

function buildCheckFields(
  schema: Schema,
  columns: AnyDescription['columns'],
  buildCheck: (schema: Schema) => Check,
): RecordCodec['checkFields'] {
  const { properties, ...others } = mergeAllOf(schema);
  const rules = Object.keys(others).filter((keyword) => !OF_ONE.test(keyword) && !ANNOTATION.test(keyword));
  if (rules.length > 0)
    return () => [`its schema has rules over several fields (${rules}): replace the record instead`];
  const check = inWords(buildCheck({ type: 'object', properties, additionalProperties: false }));
  return (fields) => {
    const isTakenAway = (name: string) =>
      fields[name] === null && columns[name]?.isOptional && !columns[name]?.isNullable;
    const stored: Fields = {};
    for (const name of Object.keys(fields)) if (!isTakenAway(name)) stored[name] = fields[name];
    return check(stored);
  };
}
