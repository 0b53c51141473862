/** Writes the handler that deletes a record. */
import { checkedName, code, toObjectLiteral } from '../generate/source-text.ts';
import { successOf } from './envelopes.ts';
import { type HandlerCode, idOf, notFound, variableOf, type Writing } from './handler-code.ts';
import { isMissing, parentIdOf, toCondition } from './parents.ts';
import { toReplyBody } from './reply-bodies.ts';

export function writeDeleteHandler(writing: Writing, made: HandlerCode): void {
  const { plan, operation } = writing;
  const reply = successOf(operation);
  const collection = checkedName(plan.name);
  const parentId = parentIdOf(writing, made);
  const id = idOf(writing, made);
  if (!reply?.hasContent) {
    const call = code`await ${collection}.delete(${id}${toCondition(writing, parentId)})`;
    const isGone = parentId ? code`(${call}) !== true` : code`!(${call})`;
    made.lines.push(code`if (${isGone}) ${notFound(writing, made)};`);
    made.lines.push(code`return ${toObjectLiteral(toReplyBody(writing, code``))};`);
    return;
  }
  const variable = variableOf(writing);
  const answer = toReplyBody(writing, variable);
  made.lines.push(code`const ${variable} = await ${collection}.read(${id});`);
  made.lines.push(
    code`if (${isMissing(writing, variable, parentId)} || !(await ${collection}.delete(${id}))) ${notFound(writing, made)};`,
  );
  made.lines.push(code`return ${toObjectLiteral(answer)};`);
}
