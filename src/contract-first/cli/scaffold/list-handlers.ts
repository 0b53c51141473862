/**
 * Writes the handler of a list, which returns all records, or a page by number, offset or cursor, and may filter by
 * fields.
 */
import type { DocumentSource } from '../../contract/page/source.ts';
import type { Parameter, Reply } from '../../engine/contract/contract.ts';
import { keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { type CheckedCode, code, member, toLiteral, toObjectLiteral, toPropertyName } from '../generate/source-text.ts';
import type { CollectionPlan } from './collection-plan.ts';
import { type Envelope, envelopeOf, isEnvelopeOf, onlyOf, plain, schemaOfReply, successOf } from './envelopes.ts';
import {
  collectionOf,
  failure,
  type HandlerCode,
  kindOf,
  NotWritten,
  reportParameters,
  type Writing,
} from './handler-code.ts';
import { checkParent, ownerIdsOf } from './parents.ts';
import { findRanges, type RangeFilter, toRangeQuery } from './range-filters.ts';
import { toEnvelope, toShownFields, toSuccessValue, type ValueFor } from './reply-bodies.ts';

/** The parts of a collection's description that the list needs: `lists` with these fields and options. */
export interface ListUse {
  always: string[];
  equal: string[];
  range: string[];
  skips: boolean;
  counts: boolean;
}

const LIMIT = /^(limit|size|pagesize|perpage|maxresults|maxitems|take|top|pagelimit)$/;
const OFFSET = /^(offset|skip|start|startindex|pageoffset)$/;
const PAGE = /^(page|pagenumber|pageno|pageindex)$/;
const CURSOR = /^(cursor|after|pagetoken|nexttoken|startingafter|continuationtoken|pagecursor)$/;

/** The maximum number of records in a list without pages. */
const MOST = 10_000;
const USUAL_LIMIT = 20;

interface Paging {
  limit?: Parameter | undefined;
  offset?: Parameter | undefined;
  page?: Parameter | undefined;
  cursor?: Parameter | undefined;
}

interface ListParameters {
  paging: Paging;
  filters: Parameter[];
  ranges: RangeFilter[];
}

function readParameters({ plan, operation, source }: Writing): ListParameters {
  const queries = operation.parameters.filter((one) => one.in === 'query');
  const isNumber = ({ schema }: Parameter) => /bigint|number/.test(String(kindOf(schema)));
  const find = (known: RegExp) => queries.find((one) => known.test(plain(one.name)) && isNumber(one));
  const cursor = queries.find(
    (one) => (one.isOpaque || CURSOR.test(plain(one.name))) && kindOf(one.schema) === 'string' && !isTime(one),
  );
  const paging: Paging = { limit: find(LIMIT), offset: find(OFFSET), page: find(PAGE), cursor };
  const filters = queries.filter((one) => isFilter(one, plan));
  const others = queries.filter((one) => !Object.values(paging).includes(one));
  const isFiltered = ({ column }: RangeFilter) => filters.some(({ name }) => name === column.name);
  return { paging, filters, ranges: findRanges(others, plan, source).filter((one) => !isFiltered(one)) };
}

const isTime = ({ schema }: Parameter) => keywordsOf(schema).format === 'date-time';

interface FoundList {
  reply: Reply;
  envelope: Envelope;
  schema: Schema | undefined;
}

/**
 * Finds the reply with a list of records.
 * @throws NotWritten if the operation's reply is not such a list
 */
function findList({ plan, operation, source }: Writing): FoundList {
  const envelope = envelopeOf(operation, plan, source);
  const reply = successOf(operation);
  if (!envelope?.isList || !isEnvelopeOf(envelope, plan, source) || !reply)
    throw new NotWritten(`its reply is not a list of ${plan.record}`);
  const needed = Object.entries(reply.headers).find(([, { required }]) => required);
  if (needed) throw new NotWritten(`the header ${needed[0]} of its reply comes from nowhere`);
  return { reply, envelope, schema: schemaOfReply(operation, reply, source) };
}

export function writeListCall(writing: Writing, made: HandlerCode): ListUse {
  const { source } = writing;
  const { paging, filters, ranges } = readParameters(writing);
  const parameters = [...Object.values(paging), ...filters, ...ranges.map(({ parameter }) => parameter)];
  const known = parameters.flatMap((one) => (one ? [one.name] : []));
  reportParameters(writing, made, known);
  const found = findList(writing);
  const owners = ownerIdsOf(writing, made);
  checkParent(writing, made, owners);
  const between = toRangeQuery(ranges);
  const ofOwners = owners.map(({ column, value }) => [column.name, value] as const);
  const asked = [...ofOwners, ...filters.map(({ name }) => [name, member('query', name)] as const), ...between];
  if (known.length > 0) made.takes.add('query');
  const { schema, envelope } = found;
  const names = namesAround(schema, envelope.path, source);
  const counts = names.some(isCount);
  const query = toPageQuery(paging, counts, between.length > 0);
  const call = code`${collectionOf(writing, made)}.list(${toObjectLiteral([...query, ...asked])})`;
  made.lines.push(code`const page = await ${call};`);
  if (!isPaged(paging)) rejectLonger(writing, made);
  if (paging.cursor)
    made.lines.push(
      code`if (!page) ${failure(writing, made, 'bad_request', 400, `The ${paging.cursor.name} is not one of this list.`)};`,
    );
  writeReply(writing, made, found, code`page.body`, { paging, counts, names });
  return {
    always: ofOwners.map(([name]) => name),
    equal: filters.map(({ name }) => name),
    range: between.map(([name]) => name),
    skips: query.some(([name]) => name === 'skip'),
    counts,
  };
}

/**
 * Writes code that answers 501 if a list without pages has more than `MOST` records, because an incomplete list would
 * be wrong.
 */
function rejectLonger({ plan, operation }: Writing, made: HandlerCode): void {
  const words = `The list has more than ${MOST} records: it needs pages, which the contract does not have.`;
  made.imports.add('HttpError');
  made.lines.push(code`if (page.next !== undefined) throw new HttpError('not_implemented', ${words});`);
  plan.unknown.push({ id: operation.id, when: `there are more than ${MOST} records: the contract has no pages` });
}

/** Writes the reply: the records in their envelope. */
function writeReply(
  writing: Writing,
  made: HandlerCode,
  { reply, envelope, schema }: FoundList,
  list: CheckedCode,
  { paging, counts, names }: { paging: Paging; counts: boolean; names: string[] },
): void {
  const status = Number(reply.status);
  const values = toListValues(paging, counts, toSuccessValue(status));
  const records = toShownFields(writing, envelope, list);
  const body = toEnvelope(writing, schema, envelope.path, records, values);
  const next = paging.cursor?.isOpaque ? [code`...(page.next !== undefined && { next: page.next })`] : [];
  if (paging.cursor && next.length === 0 && !names.some(isNext))
    throw new NotWritten('no field of its reply has the next cursor');
  made.lines.push(
    code`return ${toObjectLiteral(
      [
        ['status', toLiteral(status)],
        ['body', body],
      ],
      next,
    )};`,
  );
}

/**
 * True if a parameter filters by the field of the same name. Free texts do not count, because clients may expect to
 * find a part of a text.
 */
function isFilter({ name, schema, required }: Parameter, { columns, id }: CollectionPlan): boolean {
  const column = columns.find((one) => one.name === name);
  const { enum: listed, type, format, default: preset } = keywordsOf(schema);
  if (
    !column ||
    column === id ||
    column.of ||
    required ||
    preset !== undefined ||
    column.type === 'json' ||
    column.isNullable
  )
    return false;
  const kind =
    { int64: 'bigint', int32: 'number', number: 'number', boolean: 'boolean' }[column.type as string] ?? 'string';
  if (type === 'boolean') return kind === 'boolean';
  return (
    kindOf(schema) === kind && (kind !== 'string' || listed !== undefined || format === 'uuid' || format === 'date')
  );
}

/** Writes code for the number of records before a page, computed from the number of the page. */
function toSkip(page: CheckedCode, first: number, size: CheckedCode): CheckedCode {
  const before = first === 0 ? inBrackets(page) : code`(${inBrackets(page)} - ${first})`;
  return code`${before} * ${inBrackets(size)}`;
}

const inBrackets = (value: CheckedCode): CheckedCode => (value.text.includes(' ') ? code`(${value})` : value);

/** Writes code for a number in the query. `preset` is its value if the client does not send it. */
function numberOf({ name, schema }: Parameter, preset: number): CheckedCode {
  const value = member('query', name);
  const given = keywordsOf(schema).default === undefined ? code`${value} ?? ${preset}` : value;
  return kindOf(schema) === 'bigint' ? code`Number(${given})` : given;
}

const isPaged = (paging: Paging): boolean => Object.values(paging).some((one) => one !== undefined);

/** Writes code for the number of records on a page. */
function sizeOf(paging: Paging): CheckedCode {
  const usual = isPaged(paging) ? USUAL_LIMIT : MOST;
  return paging.limit ? numberOf(paging.limit, usual) : toLiteral(usual);
}

function toPageQuery(paging: Paging, counts: boolean, hasRanges: boolean): (readonly [string, CheckedCode])[] {
  const { offset, page, cursor } = paging;
  const size = sizeOf(paging);
  const first = page && /index/.test(plain(page.name)) ? 0 : Number(keywordsOf(page?.schema).minimum ?? 1);
  const known = offset ? numberOf(offset, 0) : page && toSkip(numberOf(page, first), first, size);
  // A list with ranges may return pages that are not full. A client without a cursor takes such a page for the last
  // one. So `skip` is set, and the store fills each page except the last.
  const skip = known ?? (hasRanges && !cursor ? toLiteral(0) : undefined);
  return [
    ['limit', size],
    ...(skip ? [['skip', skip] as const] : []),
    ...(cursor ? [['after', member('query', cursor.name)] as const] : []),
    ...(counts ? [['count', code`true`] as const] : []),
  ];
}

const isCount = (name: string) =>
  /^(total|totalcount|totalitems|totalresults|totalelements|totalrecords|totalpages|pages|pagecount|[a-z]*count|total[a-z]+)$/.test(
    plain(name),
  );
const isNext = (name: string) => /^(next|nextcursor|nexttoken|nextpagetoken|cursor|after|endcursor)$/.test(plain(name));

/**
 * Returns the names of the fields next to the records, and the names of the fields inside these, because such an object
 * may describe the page.
 */
function namesAround(schema: Schema | undefined, path: string[], source: DocumentSource): string[] {
  const [field, ...inside] = path;
  return Object.entries(source.flat(onlyOf(schema, source)).properties ?? {}).flatMap(([name, one]) => {
    if (name === field) return namesAround(one, inside, source);
    return [name, ...Object.keys(source.flat(one).properties ?? {})];
  });
}

/**
 * Returns a function for the values of fields next to the records: values about the page, or else the values of
 * `others`.
 */
function toListValues(paging: Paging, counts: boolean, others: ValueFor): ValueFor {
  const size = sizeOf(paging);
  return (name, schema, isRequired) => {
    const isCursor = paging.cursor !== undefined && isNext(name);
    const value = valueFor(name, schema, paging, size, counts);
    if (value || !isCursor) return value ?? others(name, schema, isRequired);
    if ([keywordsOf(schema).type].flat().includes('null')) return code`page.next ?? null`;
    return isRequired ? undefined : code`...(page.next !== undefined && { ${toPropertyName(name)}: page.next })`;
  };
}

function valueFor(
  name: string,
  schema: Schema,
  paging: Paging,
  size: CheckedCode,
  counts: boolean,
): CheckedCode | undefined {
  const word = plain(name);
  const { type, format } = keywordsOf(schema);
  const toNumber = (value: CheckedCode) => (format === 'int64' ? code`BigInt(${value})` : value);
  if (/boolean/.test(String(type)) && /^(hasmore|hasnext|hasnextpage|more)$/.test(word))
    return code`page.next !== undefined`;
  if (!/integer|number/.test(String(type))) return undefined;
  if (/pages|pagecount/.test(word)) return toNumber(code`Math.ceil(page.total / ${inBrackets(size)})`);
  if (isCount(name) && counts) return toNumber(code`page.total`);
  if (LIMIT.test(word) || /^(limit|perpage|size)$/.test(word)) return toNumber(size);
  if (paging.offset && OFFSET.test(word)) return toNumber(numberOf(paging.offset, 0));
  if (paging.page && /^(page|pagenumber|currentpage|number)$/.test(word)) return toNumber(numberOf(paging.page, 1));
  return undefined;
}
