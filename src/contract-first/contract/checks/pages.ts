/**
 * Reports operations that list records on pages that would break the contract: a page has too few or too many items for
 * its schema, or the parameter for the cursor rejects the cursor of the next page.
 */
import type { Operation, Parameter, Reply } from '../../engine/contract/contract.ts';
import { inAllTypes } from '../../engine/contract/replies.ts';
import type { BuildCheck } from '../../engine/schema/checks.ts';
import { keywordsOf, type ReportProblem, reportIn, type Schema } from '../../engine/schema/json.ts';
import { mergeAllOf } from '../../engine/schema/value-types.ts';
import { toPointerOf } from '../../json/pointer.ts';
import { EXTREME_CURSORS, toCursor } from '../../store/cursors.ts';
import { placedIn, toPlace } from '../../store/lists.ts';
import type { AnyDescription } from '../../store/tables/description.ts';
import { type Field, toTable } from '../../store/tables/table.ts';
import { reportInOperation } from '../read/operations.ts';
import { findLimit } from '../read/parameters.ts';
import { isSubset } from '../subsets/subsets.ts';
import { type Checking, findWitness } from '../subsets/witnesses.ts';
import { findCollection } from './findings.ts';
import { objectFieldsOf, type RecordSchema, successesOf, toClosed } from './records.ts';

/**
 * Reports an order of a list if its longest cursor does not fit the schema of the cursor's parameter. The problem is an
 * error if clients can choose the order by a query parameter, and otherwise a warning.
 */
export function reportCursors(
  operation: Operation,
  all: RecordSchema[],
  checking: Checking,
  { report, warn }: { report: ReportProblem; warn: ReportProblem },
): void {
  const { method, parameters } = operation;
  const replies = successesOf(operation.replies);
  const lists = replies.map(({ schema }) => findCollection(all, objectFieldsOf(schema)));
  const collection = lists.find((found) => found)?.collection;
  const cursor = parameters.find(
    ({ name, in: location, isOpaque }) => location === 'query' && (isOpaque || name === 'after'),
  );
  const isLinked = replies.some(({ headers, schema }) => headerOf(headers, 'link') && mergeAllOf(schema).items);
  if (method === 'GET' && collection && isLinked && !cursor)
    reportInOperation(
      warn,
      operation,
    )(`its reply has a Link, and no query parameter with x-opaque: true takes the cursor of a next page`);
  if (method !== 'GET' || !collection || !cursor || !findLimit(parameters)) return;
  const { name, schema, int64s } = cursor;
  const check = checking.buildCheck(schema, { name: `parameter ${name}`, at: '/it', int64s }, () => {});
  const { description, stored } = collection;
  const fields = objectFieldsOf(stored);
  const { asked, others } = ordersOf(description, parameters);
  for (const [order, keys] of [...asked, ...others]) {
    const longest = longestCursor(keys, fields, checking);
    const problems = check(longest);
    const pass = asked.some(([one]) => one === order) ? report : warn;
    const words = `parameter ${name}: cannot be the cursor of the order ${order}, which may have ${longest.length} characters`;
    if (problems) reportInOperation(pass, operation)(`${words}: ${problems[0]}`, toPointerOf('parameters', name));
  }
}

const headerOf = (headers: Reply['headers'], name: string) =>
  Object.keys(headers).find((key) => key.toLowerCase() === name);

type Orders = [order: string, keys: Field[]][];

function ordersOf(description: AnyDescription, parameters: Parameter[]): { asked: Orders; others: Orders } {
  const named = parameters.flatMap(({ in: location, schema }) =>
    location === 'query' ? (keywordsOf(schema).enum ?? []) : [],
  );
  const table = toTable(description);
  const orders = Object.entries(table.orders).map(([order, keys]): Orders[0] => [order, placedIn(table, keys)]);
  const asked = orders.filter(([order]) => named.includes(order));
  return { asked, others: asked.length > 0 ? [] : orders };
}

/** The maximum size of a text in an index, in bytes. Cursors may contain such a text. */
const MOST_BYTES = 2600;
const LETTERS = ['x', 'é', '🐕'];

/** Returns the cursor after a record with the longest values in its fields. */
function longestCursor(keys: Field[], fields: Record<string, Schema>, checking: Checking): string {
  const longest = keys.map((key) => {
    const values = longValuesOf(keywordsOf(fields[key.name]), key, checking);
    return values.reduce((most, value) => (sizeOf(value) > sizeOf(most) ? value : most));
  });
  return toCursor(-(2n ** 63n), [''], toPlace(keys, longest));
}

const sizeOf = (value: unknown) => Buffer.byteLength(String(value));

function longValuesOf(field: Schema, { type }: Field, checking: Checking): unknown[] {
  const { minimum, maximum, maxLength = MOST_BYTES, enum: several } = mergeAllOf(field);
  if (type === 'time') return ['2026-12-31T23:59:59.999Z'];
  if (type === 'uuid') return ['01234567-89ab-4cde-8f01-23456789abcd'];
  if (type === 'number') return [0.1 + 0.2];
  const most = type === 'int64' ? 2n ** 63n : 2n ** 31n;
  if (type !== 'text') return [minimum ?? -most, maximum ?? most - 1n];
  if (several) return several;
  // Tries no long text if a pattern may be slow, so that the build does not hang.
  if (!checking.isLinear) return [''];
  const texts = LETTERS.map((letter) => letter.repeat(Math.min(maxLength, MOST_BYTES / Buffer.byteLength(letter))));
  return ['', ...texts.filter((text) => !findWitness([text], true, field, checking))];
}

/** Reports the schema of a page if it rejects an empty page, or a page with as many records as the highest `limit`. */
export function reportPages({ parameters, replies }: Operation, stored: Schema, report: ReportProblem): void {
  const limit = findLimit(parameters);
  const most = keywordsOf(limit?.schema).maximum ?? Number.POSITIVE_INFINITY;
  for (const { status, type, schema } of limit ? inAllTypes(replies) : []) {
    const { items, minItems = 0, maxItems = most } = mergeAllOf(schema);
    if (!items || !isSubset(toClosed(stored), items)) continue;
    const reportReply = reportIn(report, toPointerOf('responses', status, 'content', type, 'schema'));
    if (minItems > 0)
      reportReply(`response ${status}: its minItems is ${minItems}, and a page may be empty`, '/minItems');
    if (maxItems < most)
      reportReply(`response ${status}: its maxItems is ${maxItems}, and parameter limit may be ${most}`, '/maxItems');
  }
}

/**
 * Reports an opaque parameter that rejects a cursor of the store, because the link to the next page would then be
 * answered with 400.
 */
export function reportNextLinks(operation: Operation, buildCheck: BuildCheck, report: ReportProblem): void {
  const { method, parameters } = operation;
  for (const { name, in: location, required, schema, int64s } of parameters.filter(({ isOpaque }) => isOpaque)) {
    const reportOwn = reportIn(report, toPointerOf('parameters', name));
    if (required && location === 'query')
      reportOwn(`parameter ${name}: it must not be required, because a first page is requested without a cursor`);
    const check = buildCheck(schema, { name: `parameter ${name}`, at: '/it', int64s }, () => {});
    const unfit = EXTREME_CURSORS.find(check);
    if (findLimit(parameters) && method !== 'GET')
      reportOwn(`parameter ${name}: the link to a next page is requested with GET, not ${method}`);
    if (unfit)
      reportOwn(
        `parameter ${name}: cannot be the cursor ${unfit}: ${check(unfit)?.join('; ')} (write x-opaque: false if it is not the cursor of a page)`,
      );
  }
}
