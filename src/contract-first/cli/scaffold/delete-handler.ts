/** Writes the handler that deletes a record. */
import { checkedName, code, toObjectLiteral } from '../generate/source-text.ts';
import { successOf } from './envelopes.ts';
import { type HandlerCode, idOf, notFound, toAnswer, variableOf, type Writing } from './handler-code.ts';
import { isMissing, ownerIdsOf, toCondition } from './parents.ts';
import { toReplyBody } from './reply-bodies.ts';

export function writeDeleteHandler(writing: Writing, made: HandlerCode): void {
  const { plan, operation } = writing;
  const reply = successOf(operation);
  const collection = checkedName(plan.name);
  const owners = ownerIdsOf(writing, made);
  const id = idOf(writing, made);
  if (!reply?.hasContent) {
    const call = code`${collection}.delete(${id}${toCondition(owners)})`;
    const body = toReplyBody(writing, code``);
    const answer = owners.length > 0 ? undefined : toAnswer(writing, made, call);
    if (answer) made.lines.push(answer);
    else {
      const isGone = owners.length > 0 ? code`(await ${call}) !== true` : code`!(await ${call})`;
      made.lines.push(code`if (${isGone}) ${notFound(writing, made)};`);
      made.lines.push(code`return ${toObjectLiteral(body)};`);
    }
    return;
  }
  const variable = variableOf(writing);
  const answer = toReplyBody(writing, variable);
  made.lines.push(code`const ${variable} = await ${collection}.read(${id});`);
  made.lines.push(
    code`if (${isMissing(variable, owners)} || !(await ${collection}.delete(${id}))) ${notFound(writing, made)};`,
  );
  made.lines.push(code`return ${toObjectLiteral(answer)};`);
}
