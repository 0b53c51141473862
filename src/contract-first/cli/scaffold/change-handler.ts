/** Writes the handler that updates or replaces a record. */
import { type CheckedCode, code, member, toObjectLiteral, toPropertyName } from '../generate/source-text.ts';
import { isJsonColumn } from './collection-plan.ts';
import { changedMeanwhile, toHeaders, toMatch, toTagHeader } from './entity-tags.ts';
import { type Given, givenOf } from './envelopes.ts';
import {
  checkBody,
  collectionOf,
  failure,
  type HandlerCode,
  idOf,
  NotWritten,
  notFound,
  variableOf,
  type Writing,
  withFields,
} from './handler-code.ts';
import { checkExists, checkOwnersInBody, type OwnerId, ownerIdsOf, toCondition, toOwnerFields } from './parents.ts';
import { toReplyBody } from './reply-bodies.ts';
import { idsIn, type OperationKind } from './resource-paths.ts';

/** Writes a handler that calls `update`, or `replace` if the body contains each field that a client can set. */
export function writeChangeHandler(writing: Writing, made: HandlerCode, kind: OperationKind): void {
  const { plan, operation, source } = writing;
  const variable = variableOf(writing);
  const body = checkBody(writing, made);
  const fields = Object.keys((givenOf(operation, plan, source) as Given).fields);
  const isInBody = fields.includes(plan.id.name);
  const owners = ownerIdsOf(writing, made);
  checkOwnersInBody(writing, made, body, owners);
  const id = checkId(writing, made, body, isInBody);
  const fromPath = [plan.id.name, ...owners.map(({ column }) => column.name)];
  const isWhole = kind === 'replace' && plan.given.every((name) => fields.includes(name) || fromPath.includes(name));
  const ofParent = toOwnerFields(owners);
  const ownFields = [...(plan.id.is ? [code`${toPropertyName(plan.id.name)}: ${id}`] : []), ...ofParent];
  const [method, value] = isWhole ? [code`replace`, withFields(body, ownFields)] : [code`update`, body];
  let given = value;
  if (isInBody && (plan.id.set || !isWhole)) {
    made.lines.push(code`const { ${toPropertyName(plan.id.name)}: _, ...changes } = ${body};`);
    given = isWhole ? withFields(code`changes`, ofParent) : code`changes`;
  }
  const match = toMatch(writing, made);
  if (match && owners.length > 0) checkExists(writing, made, id, code`found`, owners);
  const call = code`${collectionOf(writing, made)}.${method}(${id}, ${given}${toCondition(owners, match)})`;
  made.lines.push(code`const ${variable} = await ${call};`);
  const canBeUnfit = owners.length > 0 || plan.id.is !== undefined || (!isWhole && plan.columns.some(isJsonColumn));
  checkResult(writing, made, variable, { owners, match, canBeUnfit });
  const headers = toHeaders(toTagHeader(writing, made, variable));
  made.lines.push(code`return ${toObjectLiteral([...toReplyBody(writing, variable), ...headers])};`);
}

interface PossibleFailures {
  owners: OwnerId[];
  match: CheckedCode | undefined;
  /** True if the store can refuse the change for another reason than its condition. */
  canBeUnfit: boolean;
}

/**
 * Writes the error replies of a change: for a record that does not exist, that another client has changed, or that
 * would break the contract.
 */
function checkResult(
  writing: Writing,
  made: HandlerCode,
  variable: CheckedCode,
  { owners, match, canBeUnfit }: PossibleFailures,
): void {
  const [isMissing, isChanged] = [code`${variable} === undefined`, code`${variable}.refused === 'changed'`];
  if (owners.length > 0 || match || canBeUnfit) made.imports.add('isRefused');
  if (owners.length > 0) {
    const failed = match ? changedMeanwhile(writing, made) : notFound(writing, made);
    made.lines.push(code`if (${isMissing} || (isRefused(${variable}) && ${isChanged})) ${failed};`);
  } else {
    made.lines.push(code`if (${isMissing}) ${notFound(writing, made)};`);
    const isOnly = canBeUnfit ? code` && ${isChanged}` : code``;
    if (match) made.lines.push(code`if (isRefused(${variable})${isOnly}) ${changedMeanwhile(writing, made)};`);
  }
  const unfit = () =>
    failure(writing, made, 'unprocessable_content', 422, `The ${writing.plan.noun} would break the contract.`);
  if (canBeUnfit) made.lines.push(code`if (isRefused(${variable})) ${unfit()};`);
}

/**
 * Writes code for the id of the record to change, from the path or the body. If both contain an id and they differ, the
 * handler answers 400.
 */
export function checkId(writing: Writing, made: HandlerCode, body: CheckedCode, isInBody: boolean): CheckedCode {
  const { plan, operation } = writing;
  const bodyId = member(body, plan.id.name);
  const refuse = (message: string) => failure(writing, made, 'bad_request', 400, message);
  if (idsIn(operation, plan).own === undefined && !plan.isSingle) {
    if (!isInBody) throw new NotWritten('the id of the record is neither in its path nor in its body');
    made.lines.push(code`if (${bodyId} === undefined) ${refuse('The id is missing.')};`);
    return bodyId;
  }
  const id = idOf(writing, made);
  if (isInBody) {
    const different = refuse('The id in the body is another one than the id of the record.');
    made.lines.push(code`if (${bodyId} !== undefined && ${bodyId} !== ${id}) ${different};`);
  }
  return id;
}
