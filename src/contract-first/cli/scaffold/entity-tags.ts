/** Writes the parts of handlers that compare and send the entity tag of a record: its revision. */
import type { Parameter, Reply } from '../../engine/contract/contract.ts';
import { headersOfHandler } from '../../engine/replies/reply-headers.ts';
import { type CheckedCode, code, member, toObjectLiteral } from '../generate/source-text.ts';
import type { PlannedColumn } from './collection-plan.ts';
import { conditionOf, declaresDemand, tagHeaderOf } from './condition-headers.ts';
import { successOf } from './envelopes.ts';
import { failure, type HandlerCode, NotWritten, type Writing } from './handler-code.ts';

/** The column with the revision. A collection with an operation that needs it has one. */
const revisionOf = ({ columns, internal }: Writing['plan']): PlannedColumn =>
  [...columns, ...internal].find(({ set }) => set === 'revision') as PlannedColumn;

function toTagCode({ plan }: Writing, made: HandlerCode, record: CheckedCode): CheckedCode {
  made.imports.add('toTag');
  return code`toTag(${member(record, revisionOf(plan).name)})`;
}

/** Writes the header `ETag` as a field of the answer's headers, if the success declares it. */
export function toTagHeader(writing: Writing, made: HandlerCode, record: CheckedCode): [string, CheckedCode][] {
  const name = tagHeaderOf(writing.operation, (successOf(writing.operation) as Reply).status);
  return name === undefined ? [] : [[name, toTagCode(writing, made, record)]];
}

/** Writes the headers of an answer; no code if there are none. */
export const toHeaders = (headers: [string, CheckedCode][]): [string, CheckedCode][] =>
  headers.length > 0 ? [['headers', toObjectLiteral(headers)]] : [];

/** Writes code that answers 304 if the client has the current record. @throws NotWritten if the 304 needs other headers */
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

/** Writes the condition of a change: `ifMatch(headers['If-Match'] ?? '*')`. Returns undefined if the operation has none. */
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

/** Writes code that answers 428 to a request without the condition, if the contract declares this status. */
function demandCondition(writing: Writing, made: HandlerCode, { name }: Parameter): boolean {
  if (!declaresDemand(writing.operation)) return false;
  const demand = failure(writing, made, 'precondition_required', 428, `Send ${name}.`);
  made.lines.push(code`if (${member('headers', name)} === undefined) ${demand};`);
  return true;
}

/** Writes the error for a record that was changed meanwhile. */
export const changedMeanwhile = (writing: Writing, made: HandlerCode): CheckedCode =>
  failure(writing, made, 'precondition_failed', 412, `The ${writing.plan.noun} was changed meanwhile.`);
