/** Builds the collections that handlers call, from a database's functions for reading and writing. */
import { JsonText } from '../json/json-text.ts';
import { markWhole } from '../json/whole-records.ts';
import { buildMethods, ChangeBuilder, checkKey, NO_OPTIONS, toStoredIdempotency } from './changes/change-builder.ts';
import {
  type Change,
  ChangeRunner,
  type Create,
  type Created,
  isNewText,
  type Outcome,
  type TransactionCall,
  toNewText,
} from './changes/changes.ts';
import type { Dialect } from './changes/statement.ts';
import { type AnyTransactions, fromOutput, TransactionRunner } from './changes/transactions.ts';
import {
  type AllQuery,
  AlreadyDone,
  type AnyCollection,
  type Awaitable,
  type Fields,
  type HowToChange,
  type Idempotency,
  type Page,
  type PageQuery,
  type SqlSteps,
} from './collection.ts';
import { hasLists, isPlain, readAll, readPage, toRecordPage, toStoredQuery, withTenant } from './lists.ts';
import type { StoredTable } from './tables/record-codec.ts';
import { type Field, isFree, withArticle } from './tables/table.ts';
import { isStorable, toStored } from './tables/values.ts';

/**
 * The parts of a collection that each database builds itself: its table, its codec, and the functions that read single
 * records and plain pages.
 */
interface Own extends StoredTable {
  reads: PlainReads;
}

/** Reads single records, and pages in the order of creation. Internal columns are left out of the records. */
export interface PlainReads {
  get(id: unknown): Awaitable<JsonText<Fields> | undefined>;
  list(query: PageQuery): Awaitable<Page | undefined>;
}

/** The functions of a database that all collections share. */
export interface ForCollections {
  calls: AnyTransactions;
  change(change: Change | TransactionCall): Promise<Outcome>;
  /** Runs one statement that only reads. */
  read<Found>(toSteps: () => SqlSteps<Found>): Awaitable<Found>;
  /** Runs several statements that only read, on one snapshot of the database. */
  readAll<Found>(toSteps: () => SqlSteps<Found>): Awaitable<Found>;
  dialect: Dialect;
}

interface CollectionParts extends Own, ForCollections {
  create(create: Create): Promise<Created>;
}

/**
 * Builds the collections. Returns them by name. If all collections share one `create` function, pass it in `shared`;
 * otherwise pass a `create` in each element of `all`.
 */
export function buildCollections(
  all: readonly (Own & Partial<Pick<CollectionParts, 'create'>>)[],
  shared: ForCollections & Partial<Pick<CollectionParts, 'create'>>,
): Record<string, AnyCollection> {
  const changes = new ChangeRunner(shared.dialect, all);
  const readings = new TransactionRunner(changes, shared.calls);
  const built = all.map((own) => {
    const parts = { ...shared, ...own } as CollectionParts;
    const build = (tenant?: unknown) => ({
      ...buildCollection(tenant === undefined ? parts : bindReads(parts, changes, tenant), changes, tenant),
      ...buildCalls(parts, readings, tenant),
    });
    return [own.table.collection, own.table.tenant ? { of: (tenant: unknown) => build(toTenant(tenant)) } : build()];
  });
  return Object.fromEntries(built);
}

/**
 * Checks the tenant that a handler has passed to `of`, and returns it. @throws Error if the tenant is missing, for
 * example because the caller's token lacks the claim with the tenant
 */
function toTenant(tenant: unknown): unknown {
  if (tenant === undefined || tenant === null || tenant === '' || !isStorable(tenant))
    throw new Error('these records belong to tenants, and no tenant was given');
  return tenant;
}

/** Replaces the reads of a collection with reads that find only the records of one tenant. */
function bindReads(parts: CollectionParts, changes: ChangeRunner, tenant: unknown): CollectionParts {
  const { table, codec, read } = parts;
  const { name } = table.tenant as Field;
  const list = buildList(parts);
  const reads: Own['reads'] = {
    get: async (id) => {
      const text = await read(() => changes.readShown(table, id, tenant));
      return text === undefined ? undefined : JsonText.of<Fields>(text, codec);
    },
    list: (query) => list({ ...query, [name]: tenant }),
  };
  return { ...parts, reads };
}

function buildCollection(parts: CollectionParts, changes: ChangeRunner, tenant: unknown): AnyCollection {
  const { table, codec, reads, read, change, dialect } = parts;
  /**
   * Reads a whole record as JSON text, including its internal columns. If the table has none, clients get exactly this
   * text. Then `reads.get` returns it faster, because `reads.get` may use a cache, or share a statement with other
   * calls.
   */
  const readText = async (id: unknown) =>
    table.internal.length > 0
      ? read(() => changes.read(table, id, tenant))
      : (await reads.get(toStored(table.id, id)))?.text;
  const builder = new ChangeBuilder(parts, tenant);
  const run = async (toChange: () => Change) => {
    const made = toChange();
    return builder.toAnswer(made, await toFitting(parts, made, await change(made), readText));
  };
  const createAlone = buildCreateAlone(parts);
  const all = {
    ...reads,
    ...(table.id.type === 'time' && { get: (id: unknown) => reads.get(toStored(table.id, id)) }),
    read: async (id: unknown) => {
      const text = await readText(id);
      return text === undefined ? undefined : codec.whole.read(text);
    },
    ...(tenant === undefined && hasLists(table) && { list: buildList(parts) }),
    all: async (query: AllQuery) =>
      JsonText.of<Fields[]>(await read(() => readAll(table, withTenant(table, query, tenant), { dialect })), codec),
    ...buildMethods(builder, run),
    create: async (given: Fields, { idempotency }: HowToChange = NO_OPTIONS) => {
      const record = builder.toFit(given);
      const isAlone = idempotency === undefined && isFree(table);
      return isAlone ? createAlone(record) : run(() => builder.toChange({ kind: 'create', record }, { idempotency }));
    },
  };
  // Handlers see more precise types, which are derived from the collection's description.
  return all as unknown as AnyCollection;
}

/**
 * Returns the outcome of a change. If the outcome is an answer that was stored for an `Idempotency-Key`, the contract
 * may have changed since, so that the records in the answer no longer fit it. Then the answer is rebuilt from the
 * current records.
 * @throws AlreadyDone if one of these records no longer exists
 */
async function toFitting(
  { table, codec }: CollectionParts,
  { kind }: Change,
  outcome: Outcome,
  readText: (id: unknown) => Promise<string | undefined>,
): Promise<Outcome> {
  const { text = '', isReplayed } = outcome;
  if (!isReplayed || kind === 'delete') return outcome;
  const stored = codec.whole.read(text) as Fields | Fields[];
  const records = [stored].flat();
  if (!records.some((record) => codec.check(record))) return outcome;
  const texts = await Promise.all(records.map((record) => readText(record[table.id.name])));
  if (texts.includes(undefined)) throw new AlreadyDone(`${withArticle(table.noun)} of the stored answer is gone`);
  const now = Array.isArray(stored) ? `[${texts}]` : String(texts);
  return { ...outcome, text: isNewText(text) ? toNewText(now) : now };
}

/** Builds the methods that run the domain's transactions and reading functions for this collection. */
function buildCalls(
  { table, calls, change, readAll }: CollectionParts,
  readings: TransactionRunner,
  tenant: unknown,
): object {
  const { collection } = table;
  const all = Object.entries(calls[collection] ?? {}).map(([call, { isReading }]) => {
    const toCall = (input: unknown, idempotency?: Idempotency): TransactionCall => ({
      collection,
      call,
      input,
      tenant,
      idempotency,
    });
    const read = async (input: unknown) => readAll(() => readings.read(toCall(input)));
    const run = async (input: unknown, { idempotency: given }: HowToChange = NO_OPTIONS) => {
      const idempotency = toStoredIdempotency(given, tenant);
      const outcome = await change(toCall(input, idempotency));
      checkKey(idempotency, outcome);
      return fromOutput(outcome);
    };
    return [call, isReading ? read : run];
  });
  return Object.fromEntries(all);
}

/**
 * Builds the method `list`. A plain page, in the order of creation and without ranges, may be served from a cache, or
 * share a statement with other calls. For every other page, a separate statement runs.
 */
function buildList({ table, codec, reads, read, readAll: onSnapshot, dialect }: CollectionParts) {
  return async (asked: PageQuery & Fields): Promise<Page | undefined> => {
    const query = toStoredQuery(table, asked);
    if (isPlain(table, query)) return reads.list(query);
    const run = asked.count === true ? onSnapshot : read;
    return toRecordPage(await run(() => readPage(table, query, { dialect })), codec);
  };
}

/**
 * Builds the `create` of a collection whose new records cannot conflict with any other record. The record is inserted
 * outside the batches of changes, so that one statement can insert all waiting records.
 */
function buildCreateAlone({ table, create }: CollectionParts): (record: Fields) => Promise<Fields> {
  const { collection, id, sequence: column, fields, internal } = table;
  const isSequence = id.column === column;
  const times = fields.filter(({ set }) => set === 'created' || set === 'changed').map(({ name }) => name);
  return async (record) => {
    const { sequence, now } = await create({ collection, record });
    if (isSequence) record[id.name] = sequence;
    for (const name of times) record[name] = now;
    return markWhole(record, internal);
  };
}
