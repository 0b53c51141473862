/** Plans the columns of a resource's records: the values from clients, those from the store, and assumed ones. */
import type { DocumentSource } from '../../contract/page/source.ts';
import { isMatch } from '../../contract/subsets/keyword-subsets.ts';
import type { Operation } from '../../engine/contract/contract.ts';
import type { Keywords, Schema } from '../../engine/schema/json.ts';
import type { ColumnType } from '../../store/tables/description.ts';
import { type Resource, wordsOf } from './resources.ts';

export interface PlannedColumn {
  name: string;
  column: string;
  type: ColumnType;
  isOptional: boolean;
  isNullable: boolean;
  set?: 'id' | 'created' | 'changed' | 'revision';
  is?: 'id';
  first?: unknown;
}

export interface CollectionPlan extends Resource {
  table: string;
  columns: PlannedColumn[];
  id: PlannedColumn;
  /** How ids are made that a client may leave out; undefined if the store or the client sets them. */
  madeId: 'integer' | 'bigint' | 'uuid' | undefined;
  /** The fields of a create's body. */
  given: string[];
  /** Values that the contract does not give, one line each. */
  assumed: string[];
  /** Fields that the body of a create would need but lacks. */
  missing: string[];
}

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

/** A name of a table or column that needs no quotes: only letters, digits and underscores. */
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

/** Returns the plan, or the reason if the records cannot be stored. */
export function planCollection(resource: Resource, source: DocumentSource): CollectionPlan | string {
  const record = source.flat({ $ref: `#/components/schemas/${resource.record}` });
  const { properties = {}, required = [], additionalProperties } = record;
  if (additionalProperties !== undefined && additionalProperties !== false)
    return `${resource.record} may have any other fields`;
  const body = bodyOf(resource.operations.get('create'), source);
  const idName = idNameOf(resource, properties);
  if (idName === undefined) return `no field of ${resource.record} is the id {${resource.parameter}}`;
  const { properties: fields = {}, required: needed = [] } = body ?? {};
  const given = Object.keys(fields).filter((name) => !source.flat(fields[name]).readOnly);
  const plan: CollectionPlan = {
    ...resource,
    ...{ table: toSqlName(resource.name), columns: [], given, assumed: [], missing: [], madeId: undefined },
    id: undefined as never,
  };
  const taken = new Set(['seq']);
  for (const [name, field] of Object.entries(properties)) {
    const keywords = source.flat(field);
    if (keywords.writeOnly) return `${resource.record}.${name} is in no reply`;
    if (/passw|secret/i.test(name)) return `${resource.record}.${name} must not be stored as it is`;
    const column = toSqlName(name, taken);
    taken.add(column);
    const isGiven = given.includes(name);
    const planned: PlannedColumn = { name, column, ...typeOf(keywords), isOptional: !required.includes(name) };
    if (planned.isOptional && keywords.default !== undefined) planned.isOptional = false;
    if (planned.isOptional && planned.isNullable) planned.type = 'json';
    if (name === idName) {
      const problem = planId(planned, keywords, body && needed, plan);
      if (problem) return problem;
    } else if (!isGiven) planSet(planned, keywords, plan);
    else if (!needed.includes(name)) {
      if (keywords.default !== undefined) planned.first = keywords.default;
      else if (!planned.isOptional && source.flat(fields[name]).default === undefined)
        planFirst(planned, keywords, plan);
    }
    plan.columns.push(planned);
  }
  const unknown = given.find((name) => !(name in properties));
  if (unknown !== undefined) return `its body.${unknown} is in no reply`;
  return plan;
}

export function bodyOf(operation: Operation | undefined, source: DocumentSource): Keywords | undefined {
  const content = operation?.body?.contents.find(({ kind }) => kind === 'json');
  if (!operation || !content) return undefined;
  const node = source.follow(source.nodesOf(operation).source.requestBody);
  const media = Object.entries({ ...node?.content }).find(([type]) => type.toLowerCase().startsWith(content.type))?.[1];
  return source.flat(media?.schema);
}

function idNameOf({ parameter, noun }: Resource, properties: Record<string, Schema>): string | undefined {
  const plain = (name: string) => wordsOf(name).join('');
  const [last = ''] = wordsOf(parameter).slice(-1);
  const candidates = [
    parameter,
    'id',
    'uuid',
    `${noun} id`,
    ...(/^(slug|name|code|key|sku|number|username)$/.test(last) ? [last] : []),
  ].map(plain);
  return candidates
    .map((candidate) => Object.keys(properties).find((name) => plain(name) === candidate))
    .find((name) => name !== undefined);
}

function typeOf(keywords: Keywords): Pick<PlannedColumn, 'type' | 'isNullable'> {
  const types = [keywords.type ?? []].flat();
  const isNullable = types.includes('null');
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

const UUID = '123e4567-e89b-42d3-a456-426614174000';

/** Decides who sets the id: the client, the store, or the handler if the client may leave it out. `needed` are the required fields of a create's body. */
function planId(
  planned: PlannedColumn,
  keywords: Keywords,
  needed: string[] | undefined,
  plan: CollectionPlan,
): string | undefined {
  const { type } = planned;
  if (planned.isNullable || type === 'json' || type === 'boolean') return 'the type of its id is not supported';
  const isInBody = plan.given.includes(planned.name);
  const isRequired = isInBody && needed?.includes(planned.name);
  const isUuid = type === 'text' && fitsUuid(keywords);
  if (type === 'text' && keywords.format === 'uuid') planned.type = 'uuid';
  if (isRequired || !needed) planned.is = 'id';
  else if (!isInBody && !planned.isOptional && (type === 'int64' || isUuid)) planned.set = 'id';
  else if (type === 'text' && !isUuid) return 'its ids have a form that cannot be made';
  else {
    planned.is = 'id';
    plan.madeId = type === 'int64' ? 'bigint' : type === 'text' ? 'uuid' : 'integer';
  }
  plan.id = planned;
  return undefined;
}

const fitsUuid = ({ format = 'uuid', pattern, minLength = 0, maxLength = 36, enum: listed }: Keywords): boolean =>
  format === 'uuid' &&
  minLength <= 36 &&
  maxLength >= 36 &&
  !listed &&
  (pattern === undefined || isMatch(pattern, UUID) === true);

/** A field that no client sends: the store sets it, or it gets its own value. */
function planSet(planned: PlannedColumn, keywords: Keywords, plan: CollectionPlan): void {
  const name = wordsOf(planned.name).join('');
  const isTime = keywords.type === 'string' && keywords.format === 'date-time';
  if (isTime && /^(date)?(created|inserted|added)(at|on|date|time)?$|^creation(date|time)$/.test(name))
    planned.set = 'created';
  else if (isTime && /^(date)?(updated|modified|changed|lastmodified|lastupdated)(at|on|date|time)?$/.test(name))
    planned.set = 'changed';
  else if (planned.type === 'int64' && /^(revision|version)$/.test(name)) planned.set = 'revision';
  else if (!planned.isOptional) planFirst(planned, keywords, plan);
  if (planned.set === 'created' || planned.set === 'changed') planned.type = 'time';
}

/** A required field that a create may omit. */
function planFirst(planned: PlannedColumn, keywords: Keywords, plan: CollectionPlan): void {
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
  ].find((value) => value !== undefined);
  planned.first = own ?? assumed;
  if (planned.first === undefined) plan.missing.push(planned.name);
  else if (own === undefined) {
    const text = typeof assumed === 'bigint' ? '0' : JSON.stringify(assumed);
    plan.assumed.push(`${plan.name}: ${planned.name} is ${text} when a record is created`);
  }
}

/** Whether the value of a column is an object or a list. */
export const isJsonColumn = ({ type }: PlannedColumn): boolean => type === 'json';
