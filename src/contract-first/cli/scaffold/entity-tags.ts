/** Writes the code of handlers that compares and sends the entity tag of a record. The tag is the record's revision. */
import type { Parameter, Reply } from '../../engine/contract/contract.ts';
import { headersOfHandler } from '../../engine/replies/reply-headers.ts';
import { type CheckedCode, code, member, toObjectLiteral } from '../generate/source-text.ts';
import type { PlannedColumn } from './collection-plan.ts';
import { conditionOf, declaresDemand, tagHeaderOf } from './condition-headers.ts';
import { successOf } from './envelopes.ts';
import { failure, type HandlerCode, NotWritten, type Writing } from './handler-code.ts';

/** Returns the column with the revision. A collection has such a column if an operation needs the revision. */
const revisionOf = ({ columns, internal }: Writing['plan']): PlannedColumn =>
  [...columns, ...internal].find(({ set }) => set === 'revision') as PlannedColumn;

function toTagCode({ plan }: Writing, made: HandlerCode, record: CheckedCode): CheckedCode {
  made.imports.add('toTag');
  return code`toTag(${member(record, revisionOf(plan).name)})`;
}

/** Writes the header `ETag` of a successful reply as a field of its headers, if the reply declares it. */
export function toTagHeader(writing: Writing, made: HandlerCode, record: CheckedCode): [string, CheckedCode][] {
  const name = tagHeaderOf(writing.operation, (successOf(writing.operation) as Reply).status);
  return name === undefined ? [] : [[name, toTagCode(writing, made, record)]];
}

/** Writes the headers of a reply. Returns no code if `headers` is empty. */
export const toHeaders = (headers: [string, CheckedCode][]): [string, CheckedCode][] =>
  headers.length > 0 ? [['headers', toObjectLiteral(headers)]] : [];

/**
 * Writes code that answers 304 if the client already has the current version of the record.
 * @throws NotWritten if the reply 304 requires other headers
 */
export function checkUnchanged(writing: Writing, made: HandlerCode, record: CheckedCode): void {
  const { plan, operation } = writing;
  const condition = conditionOf(operation);
  if (!condition) return;
  const name = tagHeaderOf(operation, '304');
  const reply = operation.replies.find(({ status }) => status === '304') as Reply;
  const needed = headersOfHandler(operation, reply).find(([one, { required }]) => required && one !== name);
  if (needed) throw new NotWritten(`the header ${needed[0]} of its reply comes from nowhere`);
  made.takes.add('headers');
  made.imports.add('isUnchanged');
  const isSame = code`isUnchanged(${member('headers', condition.name)}, ${member(record, revisionOf(plan).name)})`;
  const headers = toHeaders(name === undefined ? [] : [[name, toTagCode(writing, made, record)]]);
  made.lines.push(code`if (${isSame}) return ${toObjectLiteral([['status', code`304`], ...headers])};`);
}

/**
 * Writes the condition of a change: `ifMatch(headers['If-Match'] ?? '*')`. Returns undefined if the operation does not
 * declare a condition header.
 */
export function toMatch(writing: Writing, made: HandlerCode): CheckedCode | undefined {
  const { plan, operation } = writing;
  const condition = conditionOf(operation);
  if (!condition) return undefined;
  made.takes.add('headers');
  made.imports.add('ifMatch');
  const value = member('headers', condition.name);
  const isChecked = condition.required || demandCondition(writing, made, condition);
  const { name } = revisionOf(plan);
  const field = name === 'revision' ? code`` : code`, ${name}`;
  return code`ifMatch(${value}${isChecked ? code`` : code` ?? '*'`}${field})`;
}

/**
 * Writes code that answers 428 to a request without the condition header, if the contract declares 428. Returns true if
 * it does.
 */
function demandCondition(writing: Writing, made: HandlerCode, { name }: Parameter): boolean {
  if (!declaresDemand(writing.operation)) return false;
  const demand = failure(writing, made, 'precondition_required', 428, `Send ${name}.`);
  made.lines.push(code`if (${member('headers', name)} === undefined) ${demand};`);
  return true;
}

/** Writes the error 412 for a record that has changed since the client read it. */
export const changedMeanwhile = (writing: Writing, made: HandlerCode): CheckedCode =>
  failure(writing, made, 'precondition_failed', 412, `The ${writing.plan.noun} was changed meanwhile.`);
