/**
 * Plans the columns of a resource's records: which values clients send, which the store sets, and which are assumed.
 */
import type { DocumentSource } from '../../contract/page/source.ts';
import type { Operation, Parameter } from '../../engine/contract/contract.ts';
import { type Keywords, keywordsOf, type Schema } from '../../engine/schema/json.ts';
import type { ColumnType } from '../../store/tables/description.ts';
import { member } from '../generate/source-text.ts';
import type { FindAssumed } from './assumed-values.ts';
import { needsRevision } from './condition-headers.ts';
import { givenOf, idNameOf, plain, wordsOf } from './envelopes.ts';
import { findTextId, fitsUuid, type MadeId, toNumberId, toSlugId } from './made-ids.ts';
import { declaresCreated } from './put-creates.ts';
import { type ParentInPath, type Resource, toCamel } from './resources.ts';
import { isNamedLike, tenantHeaderOf } from './tenant-headers.ts';

export interface PlannedColumn {
  name: string;
  column: string;
  type: ColumnType;
  isOptional: boolean;
  isNullable: boolean;
  set?: 'id' | 'created' | 'changed' | 'revision' | 'tenant';
  is?: 'id';
  first?: unknown;
  /**
   * If the column contains the parent's id: the name of the parent's collection. A record is deleted with its parent.
   */
  of?: string;
  /** True if `first` is assumed, because the contract does not give a value. */
  isAssumed?: true;
}

export interface CollectionPlan extends Omit<Resource, 'scopes'> {
  table: string;
  columns: PlannedColumn[];
  /** The columns with values that are not in any reply, such as fields that only the body of a create contains. */
  internal: PlannedColumn[];
  id: PlannedColumn;
  /** The parent that the path of the records identifies, and the column with the parent's id. */
  parentPlan?: ParentPlan;
  /** The other parameters in the path, each with its column. */
  scopes: Scope[];
  /** The header that names the tenant. Undefined if the records do not belong to a tenant. */
  tenant: Parameter | undefined;
  /**
   * For a single object below the path of a record: the collection of that record. The object and the record share an
   * id.
   */
  keyParent?: CollectionPlan;
  /** The code that makes an id if the client omits it. Undefined if the store or the client sets all ids. */
  madeId: MadeId | undefined;
  /** 400 if a body allows values that the record does not allow. A request with such a value is answered with 400. */
  unfit?: 400;
  /** The names of the fields in the body of a create. */
  given: string[];
  /** The names of fields in bodies that are not stored: passwords and secrets that no reply contains. */
  unstored: string[];
  /** Lines about assumptions, one for each value that the contract does not give. */
  assumed: string[];
  /** The requests that an operation answers with 501. `when` is the end of a sentence: `the parameter sort is sent`. */
  unknown: { id: string; when: string }[];
  /** The names of required fields of the record that neither the body of a create nor the store provides. */
  missing: string[];
}

/** A parameter in the path that is not the id of a stored record, and its column. Every value has separate records. */
export interface Scope {
  parameter: string;
  column: PlannedColumn;
}

/** The parent that the path of the records identifies. */
export interface ParentPlan {
  plan: CollectionPlan;
  /** The column with the parent's id. */
  column: PlannedColumn;
  /** True if clients see this column. */
  isShown: boolean;
  /** The name of the parameter with the parent's id. */
  parameter: string;
}

/** A plan that is not complete yet. */
interface Planning extends CollectionPlan {
  /** The names of required text fields in the body of a create. */
  texts: string[];
  findAssumed: FindAssumed;
}

const SECRET = /passw|secret/i;

/**
 * Matches the last word of a field's name that is about a secret, but does not contain it: `secretRef`,
 * `passwordChangedAt`.
 */
const ABOUT_SECRET = /^(ref|reference|at|date|time|expiry)$/;

/** Words that PostgreSQL or SQLite reserve. */
const RESERVED = new Set(
  `add all alter analyse analyze and any array as asc asymmetric authorization autoincrement begin between binary both by
cascade case cast check collate collation column commit concurrently constraint create cross current_catalog current_date
current_role current_schema current_time current_timestamp current_user default deferrable deferred delete desc distinct do
drop each else end escape except exclusive exists explain false fetch filter for foreign freeze from full glob grant group
having if ignore ilike immediate in index indexed initially inner insert instead intersect into is isnull join key lateral
leading left like limit localtime localtimestamp match natural no not nothing notnull null of offset on only or order outer
over overlaps placing plan pragma primary query raise recursive references regexp reindex release rename replace restrict
returning right rollback row rows savepoint select session_user set similar some symmetric system_user table tablesample
temp then to trailing transaction trigger true union unique update user using vacuum values variadic verbose view virtual
when where window with without seq oid ctid xmin xmax cmin cmax tableoid rowid _rowid_`.split(/\s+/),
);

/**
 * Converts a name to a name for a table or column. The result consists of letters, digits and underscores, so it needs
 * no quotes.
 */
export function toSqlName(name: string, taken: ReadonlySet<string> = new Set()): string {
  const plain = wordsOf(name)
    .join('_')
    .replace(/^(?=\d|$)/, 'field_')
    .slice(0, 50);
  const base = RESERVED.has(plain) ? `${plain}_value` : plain;
  let made = base;
  for (let count = 2; taken.has(made); count++) made = `${base}_${count}`;
  return made;
}

/** Returns the plan, or the reason why the records cannot be stored. */
export function planCollection(
  resource: Resource,
  source: DocumentSource,
  findAssumed: FindAssumed,
  parent?: CollectionPlan,
): CollectionPlan | string {
  const { properties = {}, required = [] } = source.flat(resource.schema);
  const create = resource.operations.get('create');
  const body = create && givenOf(create, resource, source);
  const idName = resource.isSingle ? idInPathOf(resource, properties) : idNameOf(resource, properties);
  const { fields = {}, required: needed = [] } = body ?? {};
  const given = Object.keys(fields).filter((name) => !source.flat(fields[name]).readOnly);
  const isText = (name: string) => source.flat(fields[name]).type === 'string' && needed.includes(name);
  const unstorable = findUnstorable(resource, source, { idName, given });
  if (unstorable !== undefined) return unstorable;
  const plan: Planning = {
    ...{ ...resource, findAssumed, texts: given.filter(isText) },
    ...{ table: toSqlName(resource.name), given, id: undefined as never, madeId: undefined },
    ...{ columns: [], internal: [], assumed: [], unknown: [], missing: [], scopes: [], unstored: [] },
    tenant: create && tenantHeaderOf(create),
  };
  const taken = new Set(['seq']);
  const parentName = parent && !resource.isSingle ? findParentField(resource, parent, source) : undefined;
  for (const [name, field] of Object.entries(properties)) {
    const keywords = source.flat(field);
    if (keywords.writeOnly) return `${resource.record}.${name} is in no reply`;
    const planned = toPlanned(name, keywords, required, taken);
    if (name === idName) {
      const problem = planId(planned, keywords, resource.isPut ? undefined : body && needed, plan);
      if (problem) return problem;
    } else if (name === parentName) planParent(planned, parent as CollectionPlan, plan, true);
    else if (!given.includes(name)) planSet(planned, keywords, plan);
    else if (!needed.includes(name)) planOptional(planned, keywords, source.flat(fields[name]), plan);
    plan.columns.push(planned);
  }
  const others = given.filter((one) => !(one in properties));
  planBodyFields(splitSecrets(others, fields, source), { fields, required: needed }, plan, source, taken);
  if (resource.isPut) tellPut(create as Operation, plan);
  if (resource.isSingle) planSingleId(resource, plan, taken, parent);
  else if (idName === undefined) planInternalId(plan, taken);
  if (parent && parentName === undefined && !resource.isSingle) planInternalParent(parent, plan, taken);
  if ([...resource.operations.values()].some(needsRevision)) planRevision(plan, taken);
  return planScopes(resource, plan, taken) ?? planTenant(plan, taken, parent) ?? plan;
}

/** Returns the reason why the records cannot be stored. Returns undefined if they can be stored. */
function findUnstorable(
  resource: Resource,
  source: DocumentSource,
  { idName, given }: { idName: string | undefined; given: string[] },
): string | undefined {
  const { record, path, isSingle, parameter, operations } = resource;
  const { properties = {}, additionalProperties } = source.flat(resource.schema);
  if (additionalProperties !== undefined && additionalProperties !== false)
    return `${record} may have any other fields`;
  const isAlone = path === '' || isSingle;
  if (idName === undefined && !isAlone) return `no field of ${record} is the id {${parameter}}`;
  const [secret] = splitSecrets(Object.keys(properties), properties, source).secret;
  if (secret !== undefined) return `${record}.${secret} must not be stored as it is`;
  const isAbout = !isAlone || given.some((name) => name in properties);
  return isAbout ? undefined : `no field of ${record} is in the body of ${operations.get('create')?.id}`;
}

/** Adds lines about assumptions if a PUT creates the records. */
function tellPut(put: Operation, { name, noun, isSingle, parameter, assumed }: Planning): void {
  if (isSingle && parameter === '') assumed.push(`${name}: all callers share one ${noun}`);
  if (!declaresCreated(put)) assumed.push(`${name}: ${put.id} creates the ${noun} if it does not exist`);
}

/** Splits the names of fields: `secret` contains those of passwords and secrets, and `open` all others. */
function splitSecrets(names: string[], fields: Record<string, Schema>, source: DocumentSource) {
  const isSecret = (name: string) =>
    SECRET.test(name) &&
    !ABOUT_SECRET.test(wordsOf(name).at(-1) as string) &&
    !/boolean|integer|number/.test(String(source.flat(fields[name]).type));
  return { secret: names.filter(isSecret), open: names.filter((name) => !isSecret(name)) };
}

/** Plans internal columns for fields that only the body of a create contains. Passwords and secrets get no column. */
function planBodyFields(
  { secret, open }: { secret: string[]; open: string[] },
  { fields, required }: { fields: Record<string, Schema>; required: string[] },
  plan: Planning,
  source: DocumentSource,
  taken: Set<string>,
): void {
  plan.unstored.push(...secret);
  plan.assumed.push(...secret.map((name) => `${plan.name}: ${name} of the body is not stored`));
  plan.internal.push(...open.map((name) => toPlanned(name, source.flat(fields[name]), required, taken)));
}

function toPlanned(name: string, keywords: Keywords, required: string[], taken: Set<string>): PlannedColumn {
  const column = toSqlName(name, taken);
  taken.add(column);
  const planned: PlannedColumn = { name, column, ...typeOf(keywords), isOptional: !required.includes(name) };
  if (planned.isOptional && keywords.default !== undefined) planned.isOptional = false;
  if (planned.isOptional && planned.isNullable) planned.type = 'json';
  return planned;
}

/** Plans a required text column that clients do not see. A caller may set another type. */
const toInternal = (name: string, taken: Set<string>): PlannedColumn =>
  toPlanned(name, { type: 'string' }, [name], taken);

export function typeOf(schema: Schema): Pick<PlannedColumn, 'type' | 'isNullable'> {
  const keywords = keywordsOf(schema);
  const types = [keywords.type ?? []].flat();
  const isNullable = types.includes('null') || takesAny(keywords);
  const [type, ...others] = types.filter((one) => one !== 'null');
  const isSimple = others.length === 0 && !keywords.oneOf && !keywords.anyOf && !keywords.enum?.includes(null);
  const simple: Record<string, ColumnType> = { boolean: 'boolean', number: 'number', string: 'text' };
  if (!isSimple) return { type: 'json', isNullable };
  if (type === 'integer')
    return {
      type: keywords.format === 'int64' ? 'int64' : keywords.format === 'int32' ? 'int32' : 'number',
      isNullable,
    };
  return { type: simple[type ?? ''] ?? 'json', isNullable };
}

/** True if the schema allows any value. Null is then one of them. */
const takesAny = (keywords: Keywords): boolean =>
  !['type', 'enum', 'const', 'oneOf', 'anyOf', 'properties', 'additionalProperties'].some((word) => word in keywords);

/**
 * Decides who sets the id: the client, the store, or the handler if the client may omit the id. `needed` contains the
 * names of the required fields in the body of a create. Returns a reason if ids cannot be made.
 */
function planId(
  planned: PlannedColumn,
  keywords: Keywords,
  needed: string[] | undefined,
  plan: Planning,
): string | undefined {
  const { type } = planned;
  if (type === 'json' || type === 'boolean') return 'the type of its id is not supported';
  const isInBody = plan.given.includes(planned.name);
  const isRequired = isInBody && needed?.includes(planned.name);
  const isUuid = type === 'text' && fitsUuid(keywords);
  if (type === 'text' && keywords.format === 'uuid') planned.type = 'uuid';
  const made =
    type === 'text' ? (findSlug(planned, keywords, plan) ?? findTextId(keywords)) : toNumberId(type === 'int64');
  if (isRequired || !needed) planned.is = 'id';
  else if (!isInBody && !planned.isOptional && (type === 'int64' || (isUuid && plain(planned.name) !== 'slug')))
    planned.set = 'id';
  else if (!made) return 'its ids have a form that cannot be made';
  else {
    planned.is = 'id';
    plan.madeId = made;
  }
  plan.id = planned;
  return undefined;
}

/** Plans an id that clients do not see, for records that are only in a list and do not have separate paths. */
function planInternalId(plan: Planning, taken: Set<string>): void {
  const name = toFreeName('recordId', plan, 'OfStore');
  plan.id = Object.assign(toInternal(name, taken), { type: 'int64', set: 'id' } as const);
  plan.internal.push(plan.id);
}

/**
 * Finds the field of a single object that contains the id in its path. The name of this field must be that of the path
 * parameter. A field named `id` may be another id, that of the object itself.
 */
const idInPathOf = ({ parameter }: Resource, properties: Record<string, Schema>): string | undefined =>
  plain(parameter) === 'id' ? undefined : Object.keys(properties).find((name) => plain(name) === plain(parameter));

/**
 * Plans the id of a single object: the id in the path, or a constant if the path does not contain an id. If the id is
 * that of a stored record, the column refers to this record.
 */
function planSingleId(resource: Resource, plan: Planning, taken: Set<string>, parent?: CollectionPlan): void {
  if (plan.id === undefined) {
    const name = toFreeName(resource.parameter || 'place', plan);
    const [{ parameters }] = [...resource.operations.values()] as [Operation];
    const { schema } = parameters.find((one) => one.in === 'path') ?? { schema: { type: 'string' } };
    plan.id = Object.assign(toPlanned(name, schema as Keywords, [name], taken), { is: 'id' } as const);
    plan.internal.push(plan.id);
  }
  if (parent) {
    Object.assign(plan.id, { type: parent.id.type, of: parent.name });
    plan.keyParent = parent;
    return;
  }
  if (resource.parameter)
    plan.assumed.push(`${plan.name}: any ${resource.parameter} in the path is accepted, and has its own ${plan.noun}`);
}

/** If the id is a slug, returns code that makes it from the title or name in the body. */
function findSlug({ name }: PlannedColumn, keywords: Keywords, { given, texts }: Planning): MadeId | undefined {
  const text = plain(name) === 'slug' ? texts.find((one) => /^(title|name|headline)$/.test(plain(one))) : undefined;
  return text === undefined || given.includes(name) ? undefined : toSlugId(keywords, (body) => member(body, text));
}

/** Plans a field that clients do not send. Either the store sets its value, or all new records get the same value. */
function planSet(planned: PlannedColumn, keywords: Keywords, plan: Planning): void {
  const name = wordsOf(planned.name).join('');
  const isTime = keywords.type === 'string' && keywords.format === 'date-time';
  if (isTime && /^(date)?(created|inserted|added)(at|on|date|time)?$|^creation(date|time)$/.test(name))
    planned.set = 'created';
  else if (isTime && /^(date)?(updated|modified|changed|lastmodified|lastupdated)(at|on|date|time)?$/.test(name))
    planned.set = 'changed';
  else if (isRevision(planned, name) && !plan.columns.some(({ set }) => set === 'revision')) planned.set = 'revision';
  else if (!planned.isOptional && plan.operations.has('create')) planFirst(planned, keywords, plan);
  if (planned.set === 'created' || planned.set === 'changed') planned.type = 'time';
}

const isRevision = ({ type, isOptional, isNullable }: PlannedColumn, name: string): boolean =>
  type === 'int64' && !isOptional && !isNullable && /^(revision|version)$/.test(name);

/**
 * Plans an internal column for the revision, which entity tags need. Does nothing if a field of the record is the
 * revision.
 */
function planRevision(plan: Planning, taken: Set<string>): void {
  if (plan.columns.some(({ set }) => set === 'revision')) return;
  const isTaken = [...plan.columns, ...plan.internal].some(({ name }) => name === 'revision');
  const name = isTaken ? 'storedRevision' : 'revision';
  plan.internal.push(Object.assign(toInternal(name, taken), { type: 'int64', set: 'revision' } as const));
}

/** Plans a field that the body of a create may omit. */
function planOptional(planned: PlannedColumn, keywords: Keywords, inBody: Keywords, plan: Planning): void {
  if (keywords.default !== undefined) planned.first = keywords.default;
  else if (!planned.isOptional && inBody.default === undefined) planFirst(planned, keywords, plan);
}

/** Plans the value that a required field has in a new record if the body of the create does not contain the field. */
function planFirst(planned: PlannedColumn, keywords: Keywords, plan: Planning): void {
  const { default: preset, const: only, enum: [listed] = [], type } = keywords;
  const isCount = /count|total|number|views|likes/i.test(planned.name) && /int|number/.test(String(type));
  const own = [preset, only].find((value) => value !== undefined);
  const guess = [
    listed,
    type === 'boolean' ? false : undefined,
    type === 'array' && !keywords.minItems ? [] : undefined,
  ];
  const assumed = [
    ...guess,
    planned.isNullable ? null : undefined,
    isCount ? (planned.type === 'int64' ? 0n : 0) : undefined,
    plan.findAssumed(keywords),
  ].find((value) => value !== undefined);
  planned.first = own ?? assumed;
  if (planned.first === undefined) plan.missing.push(planned.name);
  else if (own === undefined) {
    planned.isAssumed = true;
    plan.assumed.push(`${plan.name}: ${planned.name} is ${show(assumed)} when a record is created`);
  }
}

/** Finds the field that contains the parent's id, by its name and type. Returns undefined if no field does. */
function findParentField(resource: Resource, parent: CollectionPlan, source: DocumentSource): string | undefined {
  const { parameter } = resource.parent as ParentInPath;
  const { properties = {} } = source.flat(resource.schema);
  const candidates = [parameter, `${parent.noun} id`, `${parent.noun} ${parent.id.name}`].map(plain);
  const isOfType = (name: string) => {
    const { type, isNullable } = typeOf(source.flat(properties[name]));
    return !isNullable && type === typeOfId(parent);
  };
  return Object.keys(properties).find(
    (name) => candidates.includes(plain(name)) && !/^(id|uuid|slug|name|code|key)$/.test(plain(name)) && isOfType(name),
  );
}

/** Returns the type of a field that refers to these ids. */
const typeOfId = ({ id }: CollectionPlan): ColumnType => (id.type === 'uuid' ? 'text' : id.type);

function planParent(column: PlannedColumn, parent: CollectionPlan, plan: Planning, isShown: boolean): void {
  Object.assign(column, { type: parent.id.type, of: parent.name });
  plan.parentPlan = { plan: parent, column, isShown, parameter: (plan.parent as ParentInPath).parameter };
}

/** Plans an internal column for the parent's id, because no field of the record contains it. */
function planInternalParent(parent: CollectionPlan, plan: Planning, taken: Set<string>): void {
  const names = [...plan.columns, ...plan.internal].map(({ name }) => name);
  const wanted = `${toCamel(wordsOf(parent.noun))}Id`;
  const name = names.includes(wanted) ? `${wanted}InPath` : wanted;
  const column = toInternal(name, taken);
  plan.internal.push(column);
  planParent(column, parent, plan, false);
}

/**
 * Plans columns for the parameters in the path other than the parent's id. Returns a reason if the type of a parameter
 * is not supported.
 */
function planScopes(resource: Resource, plan: Planning, taken: Set<string>): string | undefined {
  const all = [...resource.operations.values()];
  const { parameters } = (all.find(({ path }) => path === resource.base) ?? all[0]) as Operation;
  for (const parameter of resource.scopes) {
    const { schema } = parameters.find((one) => one.in === 'path' && one.name === parameter) as Parameter;
    const { type, isNullable } = typeOf(schema);
    if (isNullable || type === 'json' || type === 'boolean') return `the type of {${parameter}} is not supported`;
    const isSame = (one: PlannedColumn) =>
      plain(one.name) === plain(parameter) && one.type === type && !one.isNullable && !one.isOptional;
    const shown = plan.columns.find((one) => one !== plan.id && !one.of && isSame(one));
    const column = shown ?? toInternal(toFreeName(parameter, plan), taken);
    if (shown) takeBack(shown, plan);
    else plan.internal.push(Object.assign(column, { type }));
    plan.scopes.push({ parameter, column });
    plan.assumed.push(`${plan.name}: any ${parameter} in the path is accepted, and has its own records`);
  }
  return undefined;
}

/**
 * Plans the column with the tenant: a field with the name of the header that no body contains, or else an internal
 * column. Returns a reason if the parent belongs to a tenant by another header.
 */
function planTenant(plan: Planning, taken: Set<string>, parent: CollectionPlan | undefined): string | undefined {
  const { tenant } = plan;
  if (parent?.tenant && parent.tenant.name !== tenant?.name)
    return `its parent ${parent.name} belongs to the tenant in ${parent.tenant.name}`;
  if (!tenant) return undefined;
  plan.assumed.push(`${plan.name}: any ${tenant.name} in a header is accepted, and has its own records`);
  const isShown = ({ name, type, isOptional, isNullable }: PlannedColumn) =>
    isNamedLike(tenant, name) && type === 'text' && !isOptional && !isNullable && !plan.given.includes(name);
  const shown = plan.columns.find((one) => one !== plan.id && !one.of && isShown(one));
  if (shown) takeBack(shown, plan);
  const column = shown ?? toInternal(toFreeName('tenant', plan, 'InHeader'), taken);
  Object.assign(column, { set: 'tenant' });
  if (!shown) plan.internal.push(column);
  return undefined;
}

/** Returns a name for a new column that no other column has. */
function toFreeName(parameter: string, { columns, internal }: Planning, suffix = 'InPath'): string {
  const wanted = toCamel(wordsOf(parameter)) || 'inPath';
  const isTaken = [...columns, ...internal].some(({ name }) => name === wanted);
  return isTaken ? `${wanted}${suffix}` : wanted;
}

/** Removes the plan for the value of a field, because the path or the tenant's header provides its value. */
function takeBack(column: PlannedColumn, plan: Planning): void {
  delete column.first;
  delete column.isAssumed;
  delete column.set;
  plan.missing = plan.missing.filter((name) => name !== column.name);
  plan.assumed = plan.assumed.filter((line) => !line.startsWith(`${plan.name}: ${column.name} is `));
}

/** True if the column may contain objects and lists. */
export const isJsonColumn = ({ type }: PlannedColumn): boolean => type === 'json';

const show = (value: unknown): string =>
  JSON.stringify(value, (_name, one) => (typeof one === 'bigint' ? Number(one) : one));
