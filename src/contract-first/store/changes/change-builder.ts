/**
 * Converts each call of a collection's method to a `Change`, and converts the outcome of the change to the result of
 * the method.
 */
import { isObject } from '../../json/merge-patch.ts';
import {
  type Fields,
  ForwardedKey,
  type HowToChange,
  type Idempotency,
  InvalidValue,
  KeyReused,
  Refusal,
} from '../collection.ts';
import { type StoredTable, UnfitRecord } from '../tables/record-codec.ts';
import { type Field, type Table, withArticle } from '../tables/table.ts';
import { checkTexts, toRecord, toStoredFields, toStoredName } from '../tables/values.ts';
import { type Change, isNewText, type Outcome } from './changes.ts';

type Made = Pick<Change, 'kind' | 'record'> & Partial<Change>;

/** The options of a change without a condition and without an `Idempotency-Key`. */
export const NO_OPTIONS: HowToChange = {};

/**
 * The functions that build the change of each method. A function takes the arguments of the method, except the options,
 * which are the last argument.
 */
const CHANGE_BUILDERS: Record<string, (builder: ChangeBuilder, first: never, second: never) => Made> = {
  create: (builder, record: Fields) => ({ kind: 'create', record: builder.toFit(record) }),
  createAll: (builder, all: Fields[]) => ({ kind: 'create', record: {}, all: all.map((one) => builder.toFit(one)) }),
  update: (builder, id, changes: Fields) => ({ kind: 'update', id, ...builder.toChanges(changes) }),
  replace: (builder, id, record: Fields) => ({ kind: 'replace', id, record: builder.toFit(record, id) }),
  put: (builder, id, record: Fields) => ({ kind: 'put', id, record: builder.toFit(record, id) }),
  delete: (_builder, id) => ({ kind: 'delete', id, record: {} }),
};

const MAKERS = Object.entries(CHANGE_BUILDERS);

/**
 * Builds the methods that change records. Every method passes a function to `run`, which must call this function to get
 * the change, and then run the change.
 */
export function buildMethods<Answer>(builder: ChangeBuilder, run: (toChange: () => Change) => Answer) {
  const methods: Record<string, (...values: unknown[]) => Answer> = {};
  for (const [name, make] of MAKERS) {
    methods[name] = (...values) => {
      const [first, second] = values as [never, never];
      const how = values[make.length - 1] as HowToChange | undefined;
      return run(() => builder.toChange(make(builder, first, second), how));
    };
  }
  return methods;
}

const toUnfit = ({ isUnfitInvalid }: Table, message: string): Error =>
  isUnfitInvalid ? new InvalidValue(message) : new UnfitRecord(message);

export class ChangeBuilder {
  readonly #stored: StoredTable;
  readonly #tenant: unknown;

  constructor(stored: StoredTable, tenant: unknown) {
    this.#stored = stored;
    this.#tenant = tenant;
  }

  /**
   * Converts a new record to its stored form. If an id is given, it becomes the id of the record. @throws UnfitRecord,
   * InvalidValue
   */
  toFit(given: Fields, id?: unknown): Fields {
    const { table, codec } = this.#stored;
    const record = toRecord(table, id === undefined ? given : { ...given, [table.id.name]: id }, this.#tenant);
    const problems = codec.check(record);
    if (problems)
      throw toUnfit(table, `${withArticle(table.noun)} that breaks its schema is not stored: ${problems.join('; ')}`);
    checkTexts(table, record);
    return record;
  }

  /** Converts and checks the fields of an update. @throws UnfitRecord, InvalidValue */
  toChanges(given: Fields): Pick<Change, 'record' | 'add' | 'merge'> {
    const { table, codec } = this.#stored;
    const changes = splitChanges(table, given);
    const problems = codec.checkFields(changes.record);
    if (problems) throw toUnfit(table, `a change of ${withArticle(table.noun)} is not stored: ${problems.join('; ')}`);
    checkTexts(table, changes.record);
    return changes;
  }

  toChange(made: Made, { if: wanted, idempotency }: HowToChange = NO_OPTIONS): Change {
    const { table } = this.#stored;
    const condition = wanted && toStoredFields(table, wanted);
    const tenant = this.#tenant;
    return {
      add: {},
      ...made,
      collection: table.collection,
      tenant,
      if: condition,
      idempotency: toStoredIdempotency(idempotency, tenant),
    };
  }

  /** Converts the outcome of a change to the result of the method. @throws KeyReused */
  toAnswer({ kind, idempotency }: Change, outcome: Outcome): unknown {
    const { text, refused } = outcome;
    checkKey(idempotency, outcome);
    if (refused !== undefined) return new Refusal(refused);
    if (kind === 'delete') return text !== undefined;
    if (text === undefined) return undefined;
    const record = this.#stored.codec.whole.read(text);
    return kind === 'put' ? { record, isNew: isNewText(text) } : record;
  }
}

/**
 * Converts an `Idempotency-Key` to its stored form: a long caller or key is replaced by its digest. In a collection
 * with tenants, the stored caller is the tenant, so all callers of a tenant share their keys.
 */
export function toStoredIdempotency(idempotency: Idempotency | undefined, tenant: unknown): Idempotency | undefined {
  if (!idempotency) return undefined;
  const caller = toStoredName(tenant === undefined ? idempotency.caller : String(tenant));
  const key = toStoredName(idempotency.key);
  if (caller === idempotency.caller && key === idempotency.key) return idempotency;
  const { operation, hours, digest } = idempotency;
  return new ForwardedKey({ caller, operation, key, hours, digest }, idempotency);
}

/**
 * Sets `isReplayed` of the key: true if an earlier request with this key already made the change.
 * @throws KeyReused if the earlier request with this key was a different one
 */
export function checkKey(idempotency: Idempotency | undefined, { refused, isReplayed }: Outcome): void {
  if (refused === 'key_reused') throw new KeyReused('the key was sent before with another request');
  if (idempotency) idempotency.isReplayed = isReplayed === true;
}

/** Divides the fields of an update into fields to set, amounts to add, and objects to merge. */
function splitChanges(table: Table, changes: Fields): Pick<Change, 'record' | 'add' | 'merge'> {
  const [record, add, merge]: [Fields, Fields, Fields] = [{}, {}, {}];
  for (const field of table.fields) {
    const value = changes[field.name];
    if (value === undefined) continue;
    if (isSum(field, value)) add[field.name] = value.add;
    else if (field.type === 'json' && isObject(value)) merge[field.name] = value;
    else record[field.name] = value;
  }
  return { record: toStoredFields(table, record), add, merge };
}

function isSum({ type }: Field, value: unknown): value is { add: unknown } {
  return (type === 'int64' || type === 'int32') && typeof value === 'object' && value !== null && 'add' in value;
}
