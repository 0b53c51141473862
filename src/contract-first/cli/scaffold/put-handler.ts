/** Writes the handler of a PUT that creates a record if it does not exist. */
import { isDeepStrictEqual } from 'node:util';
import { withArticle } from '../../store/tables/table.ts';
import { type CheckedCode, code, toObjectLiteral, toPropertyName } from '../generate/source-text.ts';
import { checkId } from './change-handler.ts';
import { checkFields } from './create-handler.ts';
import { toHeaders, toTagHeader } from './entity-tags.ts';
import { givenOf, schemaOfReply, successOf } from './envelopes.ts';
import {
  checkBody,
  collectionOf,
  failure,
  type HandlerCode,
  idOf,
  notFound,
  type Writing,
  withFields,
} from './handler-code.ts';
import { toReplyBody } from './reply-bodies.ts';

export function writePutHandler(writing: Writing, made: HandlerCode): void {
  const { plan, operation, source } = writing;
  checkFields(plan);
  const { fields = {} } = givenOf(operation, plan, source) ?? {};
  const body = operation.body && checkBody(writing, made);
  const id = body ? checkId(writing, made, body, plan.id.name in fields) : idOf(writing, made);
  const own = code`${toPropertyName(plan.id.name)}: ${id}`;
  const record = body ? withFields(body, [own]) : code`{ ${own} }`;
  made.lines.push(code`const put = await ${collectionOf(writing, made)}.put(${id}, ${record});`);
  made.imports.add('isRefused');
  const refused = plan.keyParent
    ? notFound(writing, made, plan.keyParent)
    : failure(writing, made, 'conflict', 409, `There is ${withArticle(plan.noun)} with this id.`);
  made.lines.push(code`if (isRefused(put)) ${refused};`);
  const [[, status], ...shown] = toReplyBody(writing, code`put.record`) as [[string, CheckedCode]];
  const headers = toHeaders(toTagHeader(writing, made, code`put.record`));
  const ownStatus = tellsNew(writing) ? code`put.isNew ? 201 : 200` : status;
  made.lines.push(code`return ${toObjectLiteral([['status', ownStatus], ...shown, ...headers])};`);
}

/** True if the reply to a new record and the reply to a replaced record differ only in their status. */
function tellsNew({ operation, source }: Writing): boolean {
  const created = operation.replies.find(({ status }) => status === '201');
  const replaced = successOf(operation);
  if (replaced?.status !== '200' || !created) return false;
  const [one, other] = [created, replaced].map((reply) => schemaOfReply(operation, reply, source));
  return isDeepStrictEqual(one, other);
}
