/** Writes the handler of an operation of a stored resource, or gives the reason why it cannot be written. */
import { withArticle } from '../../store/tables/table.ts';
import type { CheckedCode } from '../generate/source-text.ts';
import { writeChangeHandler } from './change-handler.ts';
import { conditionOf } from './condition-headers.ts';
import { writeCreateHandler } from './create-handler.ts';
import { writeDeleteHandler } from './delete-handler.ts';
import { envelopeOf, givenOf, isEnvelopeOf } from './envelopes.ts';
import { writeGetHandler } from './get-handler.ts';
import { checkTenant, HandlerCode, NotWritten, reportParameters, type Writing } from './handler-code.ts';
import { type ListUse, writeListCall } from './list-handlers.ts';
import { writePutHandler } from './put-handler.ts';
import type { OperationKind } from './resource-paths.ts';
import { checkTypes } from './wider-bodies.ts';

/**
 * Writes the handler.
 * @throws NotWritten with the reason why it cannot be written
 */
export function writeHandler(kind: OperationKind, writing: Writing): { code: CheckedCode; list?: ListUse } {
  const made = new HandlerCode();
  made.takes.add(writing.plan.name);
  checkTenant(writing, made);
  if (kind === 'list') {
    const list = writeListCall(writing, made);
    return { code: made.toCode(writing.operation), list };
  }
  const write = {
    create: writing.plan.isPut ? writePutHandler : writeCreateHandler,
    get: writeGetHandler,
    update: writeChangeHandler,
    replace: writeChangeHandler,
    delete: writeDeleteHandler,
  }[kind];
  if (writing.plan.unusual.has(writing.operation)) checkRecord(writing);
  const condition = kind === 'create' ? undefined : conditionOf(writing.operation);
  reportParameters(writing, made, condition ? [condition.name] : []);
  checkTypes(writing);
  write(writing, made, kind);
  return { code: made.toCode(writing.operation) };
}

/**
 * Checks an operation at an unusual path, which may be an action.
 * @throws NotWritten if its reply does not show the record, or if its body has fields that the record does not have
 */
function checkRecord({ plan, operation, source }: Writing): void {
  const envelope = envelopeOf(operation, plan, source);
  if (envelope?.isList || !isEnvelopeOf(envelope, plan, source))
    throw new NotWritten(`it may be an action: its reply is not ${withArticle(plan.record)}`);
  const known = [...plan.columns, ...plan.internal].map(({ name }) => name).concat(plan.unstored);
  const other = Object.keys(givenOf(operation, plan, source)?.fields ?? {}).find((name) => !known.includes(name));
  if (other !== undefined)
    throw new NotWritten(`it may be an action: its body has ${other}, and ${plan.record} does not`);
}
