/** Writes the handler that deletes a record. */
import { type CheckedCode, code, toObjectLiteral } from '../generate/source-text.ts';
import { changedMeanwhile, toMatch } from './entity-tags.ts';
import { successOf } from './envelopes.ts';
import { collectionOf, type HandlerCode, idOf, notFound, toAnswer, variableOf, type Writing } from './handler-code.ts';
import { checkExists, isMissing, ownerIdsOf, toCondition } from './parents.ts';
import { toReplyBody } from './reply-bodies.ts';

export function writeDeleteHandler(writing: Writing, made: HandlerCode): void {
  const { operation } = writing;
  const hasContent = successOf(operation)?.hasContent;
  const collection = collectionOf(writing, made);
  const match = toMatch(writing, made);
  const owners = ownerIdsOf(writing, made);
  const id = idOf(writing, made);
  const variable = variableOf(writing);
  const body = toReplyBody(writing, variable);
  const call = code`${collection}.delete(${id}${toCondition(owners, match)})`;
  if (match) {
    if (hasContent || owners.length > 0) {
      checkExists(writing, made, id, variable, owners);
      made.lines.push(code`if ((await ${call}) !== true) ${changedMeanwhile(writing, made)};`);
    } else deleteIfMatch(writing, made, call);
  } else if (hasContent) {
    made.lines.push(code`const ${variable} = await ${collection}.read(${id});`);
    made.lines.push(
      code`if (${isMissing(variable, owners)} || !(await ${collection}.delete(${id}))) ${notFound(writing, made)};`,
    );
  } else {
    const answer = owners.length > 0 ? undefined : toAnswer(writing, made, call);
    if (answer) {
      made.lines.push(answer);
      return;
    }
    const isGone = owners.length > 0 ? code`(await ${call}) !== true` : code`!(await ${call})`;
    made.lines.push(code`if (${isGone}) ${notFound(writing, made)};`);
  }
  made.lines.push(code`return ${toObjectLiteral(body)};`);
}

/**
 * Writes a delete with a condition. The handler answers with different errors if the record was changed and if it does
 * not exist.
 */
function deleteIfMatch(writing: Writing, made: HandlerCode, call: CheckedCode): void {
  made.imports.add('isRefused');
  made.lines.push(code`const isDeleted = await ${call};`);
  made.lines.push(code`if (isRefused(isDeleted)) ${changedMeanwhile(writing, made)};`);
  made.lines.push(code`if (!isDeleted) ${notFound(writing, made)};`);
}
