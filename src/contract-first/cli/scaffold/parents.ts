/** Writes the parts of handlers that concern the parent in a record's path, such as the article in `/articles/{slug}/comments/{id}`. */
import { type CheckedCode, checkedName, code, member, toPropertyName } from '../generate/source-text.ts';
import type { ParentPlan } from './collection-plan.ts';
import { type Given, givenOf } from './envelopes.ts';
import { failure, type HandlerCode, notFound, toId, type Writing } from './handler-code.ts';

/** Writes the id of the parent in the path; undefined for records without a parent. */
export function parentIdOf(writing: Writing, made: HandlerCode): CheckedCode | undefined {
  const parent = writing.plan.parentPlan;
  return parent && toId(writing, made, parent.plan, parent.parameter, 'parentId');
}

const columnOf = ({ plan }: Writing) => (plan.parentPlan as ParentPlan).column;
const toPart = (writing: Writing, parentId: CheckedCode) =>
  code`${toPropertyName(columnOf(writing).name)}: ${parentId}`;

/** Writes the condition that a record does not exist, or belongs to another parent. */
export const isMissing = (writing: Writing, variable: CheckedCode, parentId: CheckedCode | undefined): CheckedCode =>
  parentId
    ? code`!${variable} || ${member(variable, columnOf(writing).name)} !== ${parentId}`
    : code`${variable} === undefined`;

/** Writes the condition of a change: that the record belongs to this parent. */
export const toCondition = (writing: Writing, parentId: CheckedCode | undefined): CheckedCode =>
  parentId ? code`, { if: { ${toPart(writing, parentId)} } }` : code``;

/** Writes the field of a new record with its parent's id; empty for records without a parent. */
export const toParentField = (writing: Writing, parentId: CheckedCode | undefined): CheckedCode[] =>
  parentId ? [toPart(writing, parentId)] : [];

/** Writes code that rejects a body with another parent's id. */
export function checkParentInBody(
  writing: Writing,
  made: HandlerCode,
  body: CheckedCode,
  parentId: CheckedCode | undefined,
): void {
  if (!parentId) return;
  const { plan, operation, source } = writing;
  const { name } = columnOf(writing);
  if (!(name in (givenOf(operation, plan, source) as Given).fields)) return;
  const value = member(body, name);
  const different = failure(
    writing,
    made,
    'bad_request',
    400,
    `The ${name} in the body is another one than in the path.`,
  );
  made.lines.push(code`if (${value} !== undefined && ${value} !== ${parentId}) ${different};`);
}

/** Writes the filter of a list by its parent. A missing parent is a 404. */
export function toParentFilter(writing: Writing, made: HandlerCode): (readonly [string, CheckedCode])[] {
  const parentId = parentIdOf(writing, made);
  if (!parentId) return [];
  const { plan } = writing.plan.parentPlan as ParentPlan;
  made.takes.add(plan.name);
  made.lines.push(code`if (!(await ${checkedName(plan.name)}.get(${parentId}))) ${notFound(writing, made, plan)};`);
  return [[columnOf(writing).name, parentId]];
}
