/** Stored records and the contract: checks of records before they are stored, reading them, and the check of all records at the start. */
import { parseExactJson } from '../../json/exact-json.ts';
import type { Fields } from '../../store/collection.ts';
import type { Contents } from '../../store/store.ts';
import type { AnyDescription, AnyDomain } from '../../store/tables/description.ts';
import type { RecordCodec } from '../../store/tables/record-codec.ts';
import { type Contract, ContractError } from '../contract/contract.ts';
import type { Problem } from '../errors/problem.ts';
import { buildToBigints } from '../schema/bigints.ts';
import { buildChecks, type Check } from '../schema/checks.ts';
import { int64sOf } from '../schema/int64-map.ts';
import type { Schema } from '../schema/json.ts';
import { ANNOTATION } from '../schema/keys.ts';
import { mergeAllOf } from '../schema/value-types.ts';

/** @throws ContractError with the number of stored records that do not fit the contract */
export async function checkStoredRecords(
  contract: Pick<Contract, 'records' | 'digest'>,
  domain: AnyDomain,
  store: Contents,
): Promise<void> {
  const checks = new Map<string, Check>();
  const invalidRecords = new Map<string, { count: number; first: string }>();
  const checkOf = (schema: string): Check => {
    const known = checks.get(schema) ?? buildChecks()(recordOf(contract, schema), { name: schema }, () => {});
    checks.set(schema, known);
    return known;
  };
  const fits = (text: string, collection: string): boolean => {
    const { noun, schema } = domain[collection] as AnyDescription;
    const record: unknown = parseExactJson(text);
    const problems = checkOf(schema)(record);
    if (!problems) return true;
    const known = invalidRecords.get(collection) ?? { count: 0, first: toFirst(noun, record, problems) };
    invalidRecords.set(collection, { ...known, count: known.count + 1 });
    return false;
  };
  await store.countInvalidRecords(contract.digest, fits);
  const advice = 'correct them, or undo the edit of the contract';
  const problems = [...invalidRecords].map(([name, { count, first }]) => {
    return `stored ${name} that do not fit its schema ${domain[name]?.schema}: ${count} (${first}); ${advice}`;
  });
  if (problems.length > 0) throw new ContractError(problems);
}

function toFirst(noun: string, record: unknown, problems: Problem[]): string {
  return `${noun} ${(record as { id: unknown } | null)?.id}: ${problems.join('; ')}`;
}

/** Without its schema in the contract, a collection stores nothing. */
export const recordOf = ({ records }: Pick<Contract, 'records'>, name: string): Schema => records[name] ?? {};

/** The codecs of all collections. A check is compiled on first use. */
export function buildCodecs<Domain extends AnyDomain>(
  contract: Pick<Contract, 'records'>,
  domain: Domain,
): Record<keyof Domain & string, RecordCodec> {
  const codecs = Object.entries(domain).map(([name, description]) => [name, buildCodec(contract, description, name)]);
  return Object.fromEntries(codecs);
}

function buildCodec(
  contract: Pick<Contract, 'records'>,
  { schema: name, columns }: AnyDescription,
  collection: string,
): RecordCodec {
  let made: Omit<RecordCodec, 'name'> | undefined;
  const make = () => {
    const schema = recordOf(contract, name);
    const int64s = int64sOf(schema);
    const buildCheck = buildChecks();
    const toBigints = buildToBigints(int64s) ?? ((value: unknown) => value);
    let checkFields: RecordCodec['checkFields'] | undefined;
    return {
      check: inWords(buildCheck(schema, { name, int64s }, () => {})),
      checkFields: (fields: Fields) => {
        checkFields ??= buildCheckFields(schema, columns, (one) => buildCheck(one, { name }, () => {}));
        return checkFields(fields);
      },
      read: (text: string) => {
        const value = parseExactJson(text);
        return Array.isArray(value) ? value.map(toBigints) : toBigints(value);
      },
    };
  };
  const codec = () => {
    made ??= make();
    return made;
  };
  return {
    name: collection,
    check: (record) => codec().check(record),
    checkFields: (fields) => codec().checkFields(fields),
    read: (text) => codec().read(text),
  };
}

const inWords = (check: Check) => (value: unknown) => check(value)?.map(String);

/** The keywords that judge each field by itself. */
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
