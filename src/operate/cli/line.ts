/**
 * A line of an export: a JSON object with one member, whose name is the kind of line. The first line is `export`, the last is `end`;
 * between them, each key and record has a line. The member of a record is named by the collection's noun.
 */
import { isUtf8 } from 'node:buffer';
import type { Contract } from '../../engine/contract/contract.ts';
import { recordOf } from '../../engine/routes/stored-records.ts';
import { buildToBigints, type ToBigints } from '../../engine/schema/bigints.ts';
import { buildChecks } from '../../engine/schema/checks.ts';
import { int64sOf } from '../../engine/schema/int64-map.ts';
import type { Keywords, Schema } from '../../engine/schema/json.ts';
import { parseExactJson } from '../../json/exact-json.ts';
import { CONFIGURED, NAME_PATTERN } from '../../store/api-keys.ts';
import type { Fields } from '../../store/collection.ts';
import type { AnyDescription, AnyDomain } from '../../store/description.ts';
import { RATE_PATTERN } from '../../store/rate.ts';
import type { StoredKey } from '../../store/store.ts';

export const VERSION = 1;

/** All lines are shorter than this, in bytes. */
export const MAX_LINE = 2 ** 18;

/** A parsed line, which has one of these. */
export interface Line {
  /** The highest id that each collection has ever used: the next record gets a higher one. */
  export?: { version: number; lastId: Record<string, bigint> };
  key?: StoredKey;
  record?: Fields;
  /** The collection of the record. */
  collection?: string;
  /** The counts of keys and records. An export without this line is incomplete. */
  end?: Counts;
}

export interface Counts {
  keys: number;
  /** By collection. */
  records: Record<string, number>;
}

/** Ids of stored keys; those of configured keys are excluded. */
const ID = { type: 'string', pattern: `^(?!${CONFIGURED.replace('.', '\\.')})[\\w.-]{1,64}$` };
const NAME = { type: 'string', pattern: NAME_PATTERN };
const SCOPES = { type: 'array', items: { type: 'string', pattern: '^[^ ]+$' } };
const RATE = { type: 'string', pattern: `${RATE_PATTERN}|^none$` };
/** A time in the form of `toISOString`, because stores compare times as text. */
const TIME = { type: 'string', format: 'date-time', pattern: '\\.\\d{3}Z$' };
const COUNT = { type: 'integer', minimum: 0 };

const KEY = toObject({ id: ID, name: NAME, hash: { type: 'string', pattern: '^[0-9a-f]{64}$' }, createdAt: TIME });

function toObject(properties: Record<string, Schema>): Keywords {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/** @throws Error that says what is wrong with the line */
export type ReadLine = (bytes: Buffer) => Line;

/** Records are checked like stored ones, by the collection's schema in the contract, without additional fields. */
export function buildReadLine(contract: Contract, domain: AnyDomain): ReadLine {
  const collections = Object.entries(domain);
  const id = { type: 'integer', format: 'int64', minimum: 1 };
  const schema = {
    ...toObject({
      export: toObject({
        version: { enum: [VERSION] },
        lastId: toObject(toFields(collections, () => ({ ...id, minimum: 0 }))),
      }),
      key: { ...KEY, properties: { ...KEY.properties, expiresAt: TIME, revokedAt: TIME, scopes: SCOPES, rate: RATE } },
      ...Object.fromEntries(collections.map(([, one]) => [one.noun, toRecordSchema(contract, one, id)])),
      end: toObject({ keys: COUNT, ...toFields(collections, () => COUNT) }),
    }),
    required: [],
    minProperties: 1,
    maxProperties: 1,
  };
  const int64s = int64sOf(schema);
  const check = buildChecks()(schema, { name: 'line', int64s }, () => {});
  const toBigints = buildToBigints(int64s) as ToBigints;

  return (bytes) => {
    if (bytes.length >= MAX_LINE) throw new Error('it is too long');
    if (!isUtf8(bytes)) throw new Error('it is not UTF-8');
    const line = parse(bytes.toString());
    const problems = check(line);
    if (problems) throw new Error(problems.join('; ').trim());
    const { end, ...others } = toBigints(line) as Record<string, unknown>;
    if (end !== undefined) {
      const { keys, ...records } = end as Record<string, number>;
      return { end: { keys: keys as number, records } };
    }
    const kept = collections.find(([, { noun }]) => noun in others);
    return kept ? { collection: kept[0], record: others[kept[1].noun] as Fields } : (others as Line);
  };
}

type Collections = [name: string, AnyDescription][];

const toFields = (collections: Collections, toSchema: () => Schema): Record<string, Schema> =>
  Object.fromEntries(collections.map(([name]) => [name, toSchema()]));

/** The schema of a record; ids that the store sets begin with 1. */
function toRecordSchema(contract: Contract, { schema, columns }: AnyDescription, id: Schema): Schema {
  const [name, column] = Object.entries(columns).find(([, { set }]) => set === 'id') ?? [];
  const own = column?.type === 'int64' ? { type: 'object', properties: { [name as string]: id } } : {};
  return { allOf: [recordOf(contract, schema), own], unevaluatedProperties: false };
}

function parse(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    throw new Error(`it ${(error as Error).message}`);
  }
}
