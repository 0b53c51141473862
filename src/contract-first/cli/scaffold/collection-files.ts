/**
 * Writes the collections of a contract: their descriptions, migrations and handlers. Also gives a reason for each
 * operation on records that are not stored.
 */
import { toSource } from '../../contract/page/source.ts';
import type { Operation, ReadContract } from '../../engine/contract/contract.ts';
import { namesIn } from '../../engine/contract/path-names.ts';
import type { ContractProblem } from '../../engine/schema/json.ts';
import type { AnyColumn, AnyDescription, AnyDomain } from '../../store/tables/description.ts';
import { type CheckedCode, checkedName, code, indented, joined, toField, toLiteral } from '../generate/source-text.ts';
import { writeInsert } from '../migration/insert-sql.ts';
import { type FirstMigration, writeFirstMigrations } from '../migration/table-sql.ts';
import { problemsThrownBy } from '../unservable.ts';
import { buildFindAssumed } from './assumed-values.ts';
import { type CollectionPlan, type PlannedColumn, planCollection } from './collection-plan.ts';
import { wordsOf } from './envelopes.ts';
import { type FirstRecord, findFirstRecord } from './first-records.ts';
import type { Writing } from './handler-code.ts';
import type { ListUse } from './list-handlers.ts';
import { writeHandler } from './operation-handlers.ts';
import { isOfCaller, withPut } from './put-creates.ts';
import type { OperationKind } from './resource-paths.ts';
import { type Resource, recognise } from './resources.ts';
import { hasWiderBody } from './wider-bodies.ts';

export interface WrittenCollection {
  name: string;
  /** The text of each file. The key is its path below the service's folder. */
  files: Map<string, string>;
  /** The handlers by operationId. */
  handlers: Map<string, string>;
  /** The operationId of the operation that creates the records. Undefined if no operation creates them. */
  createId: string | undefined;
  /** The record in the second migration. Undefined if an operation creates the records. */
  first: FirstRecord | undefined;
  plan: CollectionPlan;
  description: AnyDescription;
  assumed: string[];
}

export interface WrittenCollections {
  collections: WrittenCollection[];
  /** The reason why an operation's records are not stored, by operationId. */
  reasons: Map<string, string>;
}

export const toParentReason = (name: string): string => `its parent ${name} is not stored`;

/** The maximum number of records that a request for a page may skip. */
const MOST_SKIPPED = 100_000;

/** Writes the collections. If `isAssuming` is true, required fields without a source get the contract's examples. */
export function writeCollections(contract: ReadContract, { isAssuming = false } = {}): WrittenCollections {
  const source = toSource(contract);
  const findAssumed = isAssuming ? buildFindAssumed(source) : () => undefined;
  const { resources, reasons } = recognise(contract);
  const collections: WrittenCollection[] = [];
  for (const resource of resources) {
    if (isOfCaller(resource) && !isAssuming) {
      for (const { id } of resource.operations.values()) reasons.set(id, 'each caller may have its own');
      continue;
    }
    const given = { contract, source, findAssumed, reasons, stored: collections };
    const made = writeCollection(withPut(resource, isAssuming), given);
    const filled = made || !isAssuming ? made : writeFilled(resource, given);
    if (filled) collections.push(filled);
  }
  return { collections, reasons };
}

interface Given extends Pick<Writing, 'source' | 'findAssumed'> {
  contract: ReadContract;
  reasons: Map<string, string>;
  /** The collections that were written before this one. */
  stored: WrittenCollection[];
}

/** Writes a collection without a create. The second migration inserts the contract's example as the first record. */
function writeFilled(resource: Resource, given: Given): WrittenCollection | undefined {
  // Without a path of a record, the store sets the id. For a single object, the contract lacks an example of its id. In
  // both cases a first record cannot be made.
  if (resource.path === '' || resource.isSingle) return undefined;
  const { create, ...others } = Object.fromEntries(resource.operations) as { create?: Operation };
  const operations = new Map(Object.entries(others) as [OperationKind, Operation][]);
  const reasons = new Map<string, string>();
  const own = { ...resource, operations, base: toBase(resource) };
  const made = operations.size > 0 && writeCollection(own, { ...given, reasons }, true);
  if (!made) return undefined;
  for (const id of made.handlers.keys()) given.reasons.delete(id);
  for (const [id, reason] of reasons) given.reasons.set(id, reason);
  const why = create ? `${create.id} is not stored` : 'no operation creates more';
  made.assumed.push(`${made.name}: the table begins with one record, the contract's example; ${why}`);
  return made;
}

function writeCollection(
  recognised: Resource,
  { contract, reasons, stored, ...given }: Given,
  isFilled = false,
): WrittenCollection | undefined {
  const owner = stored.find(({ name }) => name === recognised.parent?.name);
  // A client cannot create a parent that exists only by its example, or guess its id.
  const parent = isFilled || owner?.first ? undefined : owner;
  const resource = parent ? recognised : withoutParent(recognised);
  const operations = [...resource.operations];
  const skipAll = (reason: string) => {
    for (const [, { id }] of operations) reasons.set(id, reason);
    return undefined;
  };
  const plan = planCollection(resource, given.source, given.findAssumed, parent?.plan);
  if (typeof plan === 'string') return skipAll(plan);
  const use: ListUse = { always: [], equal: [], range: [], skips: false, counts: false };
  const handlers = new Map<string, string>();
  for (const [kind, operation] of operations) {
    const written = tryHandler(kind, { ...given, plan, operation });
    if (typeof written === 'string') reasons.set(operation.id, written);
    else handlers.set(operation.id, written.code.text);
    if (typeof written !== 'string' && written.list) Object.assign(use, written.list);
  }
  const first =
    isFilled && isRead(resource, handlers) ? findFirstRecord(plan, given, toKnown(recognised, owner)) : undefined;
  const missing = first ? undefined : findMissing(resource, handlers, reasons);
  if (missing !== undefined) {
    for (const id of handlers.keys()) reasons.set(id, missing);
    return undefined;
  }
  const createId = resource.operations.get('create')?.id;
  const written = operations.flatMap(([, operation]) => (handlers.has(operation.id) ? [operation] : []));
  if (hasWiderBody(contract, { ...given, plan }, written, toDescription(plan, use))) plan.unfit = 400;
  const description = toDescription(plan, use);
  const domain = Object.fromEntries([...stored.map((one) => [one.name, one.description]), [plan.name, description]]);
  const files = toFiles(plan, use, domain, first);
  return { name: plan.name, files, handlers, createId, first, plan, description, assumed: plan.assumed };
}

/**
 * Returns the text of each file of a collection, by its path. `domain` contains this collection and all earlier ones.
 */
function toFiles(plan: CollectionPlan, use: ListUse, domain: AnyDomain, first: FirstRecord | undefined) {
  const folder = `src/${checkedName(plan.name).text}`;
  const fileName = wordsOf(plan.name).join('-');
  const files = new Map([[`${folder}/domain.ts`, writeDomain(plan, use).text]]);
  const migration = writeFirstMigrations(domain).find(({ collection }) => collection === plan.name) as FirstMigration;
  const insert = { table: plan.table, columns: [...plan.columns, ...plan.internal], comment: OF_EXAMPLE };
  for (const kind of ['sqlite', 'postgres'] as const) {
    files.set(`${folder}/migrations/${kind}/0001-${fileName}.sql`, migration[kind]);
    if (first) files.set(`${folder}/migrations/${kind}/0002-example.sql`, writeInsert(insert, first, kind));
  }
  return files;
}

const OF_EXAMPLE =
  "Assumed: the contract's example. Delete this file before the first start if you do not want the record.";

/**
 * Returns the base of the resource without its create: the path of the list, or else the path of the records without
 * the id. The path of the create may have been different.
 */
const toBase = ({ path, operations }: Resource): string =>
  operations.get('list')?.path ?? path.slice(0, path.lastIndexOf('/'));

/** Returns the ids of the owner's first record and of the records above it, by the names of the path parameters. */
const toKnown = ({ parent }: Resource, owner: WrittenCollection | undefined): ReadonlyMap<string, unknown> =>
  new Map(
    owner?.first && [
      ...owner.plan.scopes.map(({ parameter, column }) => [parameter, owner.first?.[column.name]] as const),
      [parent?.parameter as string, owner.first[owner.plan.id.name]] as const,
    ],
  );

/** True if a written handler shows the records. */
const isRead = ({ operations }: Resource, handlers: ReadonlyMap<string, string>): boolean =>
  [operations.get('get'), operations.get('list')].some((one) => one && handlers.has(one.id));

/** Returns a reason if no written handler creates the records, or if none shows them. */
function findMissing(
  { path, operations, isSingle }: Resource,
  handlers: ReadonlyMap<string, string>,
  reasons: ReadonlyMap<string, string>,
): string | undefined {
  const create = operations.get('create');
  if (!create) return 'no operation creates its records';
  if (!handlers.has(create.id)) return `its records cannot be created: ${reasons.get(create.id)}`;
  const reading = operations.get(path === '' ? 'list' : 'get');
  const isHidden = (path === '' || isSingle) && reading && !handlers.has(reading.id);
  return isHidden ? `nothing shows its records: ${reasons.get(reading.id)}` : undefined;
}

/** Returns a resource with a parent that is not stored. Any id of a parent in the path is then accepted. */
const withoutParent = ({ parent: _, ...resource }: Resource): Resource => ({
  ...resource,
  scopes: namesIn(resource.base),
});

/** Returns the written handler, or the reason why it cannot be written. */
function tryHandler(kind: OperationKind, writing: Writing) {
  let written: ReturnType<typeof writeHandler> | undefined;
  const [reason] = problemsThrownBy(() => {
    written = writeHandler(kind, writing);
  });
  return written ?? (reason as ContractProblem).words;
}

const toDescription = (plan: CollectionPlan, use: ListUse): AnyDescription => ({
  ...{ noun: plan.noun, schema: plan.record, table: plan.table },
  columns: toColumns(plan.columns),
  ...(plan.internal.length > 0 && { internal: toColumns(plan.internal) }),
  lists: toLists(use),
  ...(plan.unfit && { unfit: plan.unfit }),
  errors: {},
  migrations: new URL('file:///migrations/'),
});

const toColumns = (columns: PlannedColumn[]): Record<string, AnyColumn> =>
  Object.fromEntries(columns.map((column) => [column.name, toColumn(column) as AnyColumn]));

const toLists = ({ always, equal, range, skips, counts }: ListUse) => ({
  ...(always.length > 0 && { always }),
  ...(equal.length > 0 && { equal }),
  ...(range.length > 0 && { range }),
  ...(skips && { skip: MOST_SKIPPED }),
  ...(counts && { count: true as const }),
});

/** Returns a column in the form of a description. Properties that equal their defaults are left out. */
function toColumn({
  name,
  column,
  type,
  isOptional,
  isNullable,
  set,
  is,
  first,
  of,
}: PlannedColumn): Record<string, unknown> {
  const usual = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return {
    ...(column !== usual && { column }),
    type,
    ...(set && { set }),
    ...(is && { is }),
    ...(of !== undefined && { of, onDelete: 'delete' }),
    ...(first !== undefined && { first }),
    ...(isOptional && { isOptional: true }),
    ...(isNullable && { isNullable: true }),
  };
}

function writeDomain(plan: CollectionPlan, use: ListUse): CheckedCode {
  const fields = (columns: PlannedColumn[]) =>
    columns.map((column) => {
      const comment = column.isAssumed ? code` // assumed` : code``;
      return code`    ${indented(indented(toField(column.name, toLiteral(toColumn(column)))))},${comment}\n`;
    });
  const names = joined(
    plan.internal.map(({ name }) => code`${name}`),
    ' | ',
  );
  const [internal, ofInternal] =
    plan.internal.length > 0
      ? [code`  // No reply has these.\n  internal: {\n${fields(plan.internal)}  },\n`, code`, ${names}`]
      : [code``, code``];
  const lists = toLists(use);
  const isListed = Object.keys(lists).length > 0;
  const unfit = plan.unfit
    ? code`  // Bodies allow values that the record does not: such a request is a 400.\n  unfit: ${toLiteral(plan.unfit)},\n`
    : code``;
  return code`/** Describes a collection of records: their columns and lists. The compiler checks it against the contract. */
import type { Description } from 'contract-first/store';

export const ${checkedName(plan.name)} = {
  noun: ${plan.noun},
  schema: ${plan.record},
  table: ${plan.table},
  columns: {
${fields(plan.columns)}  },
${internal}${isListed ? code`  lists: ${toLiteral(lists)},\n` : code``}${unfit}  errors: {},
  migrations: new URL('migrations/', import.meta.url),
} as const satisfies Description<${plan.record}${ofInternal}>;
`;
}
