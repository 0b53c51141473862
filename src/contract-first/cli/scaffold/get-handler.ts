/** Writes the handler that returns one record. */
import { withArticle } from '../../store/tables/table.ts';
import { code, toObjectLiteral } from '../generate/source-text.ts';
import { needsRevision } from './condition-headers.ts';
import { checkUnchanged, toHeaders, toTagHeader } from './entity-tags.ts';
import { envelopeOf } from './envelopes.ts';
import {
  collectionOf,
  type HandlerCode,
  idOf,
  NotWritten,
  notFound,
  toAnswer,
  variableOf,
  type Writing,
} from './handler-code.ts';
import { isMissing, ownerIdsOf } from './parents.ts';
import { toReplyBody, toShownFields } from './reply-bodies.ts';

export function writeGetHandler(writing: Writing, made: HandlerCode): void {
  const { plan, operation, source } = writing;
  const variable = variableOf(writing);
  const envelope = envelopeOf(operation, plan, source);
  if (!envelope) throw new NotWritten(`its reply is not ${withArticle(plan.record)}`);
  const owners = ownerIdsOf(writing, made);
  const isPlain = owners.length === 0 && !needsRevision(operation);
  const isBare = envelope.path.length === 0 && !envelope.isList;
  const isWhole = isPlain && isBare && toShownFields(writing, envelope, code``).text === '';
  const read = isWhole ? code`get` : code`read`;
  const call = code`${collectionOf(writing, made)}.${read}(${idOf(writing, made)})`;
  const body = toReplyBody(writing, variable);
  const answer = isWhole ? toAnswer(writing, made, call) : undefined;
  if (answer) made.lines.push(answer);
  else {
    made.lines.push(code`const ${variable} = await ${call};`);
    made.lines.push(code`if (${isMissing(variable, owners)}) ${notFound(writing, made)};`);
    checkUnchanged(writing, made, variable);
    made.lines.push(code`return ${toObjectLiteral([...body, ...toHeaders(toTagHeader(writing, made, variable))])};`);
  }
}
