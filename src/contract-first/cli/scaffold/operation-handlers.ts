/** Writes the handler of an operation of a stored resource, or gives the reason if it cannot. */
import type { CheckedCode } from '../generate/source-text.ts';
import { writeChangeHandler } from './change-handler.ts';
import { conditionOf } from './condition-headers.ts';
import { writeCreateHandler } from './create-handler.ts';
import { writeDeleteHandler } from './delete-handler.ts';
import { writeGetHandler } from './get-handler.ts';
import { HandlerCode, reportParameters, type Writing } from './handler-code.ts';
import { type ListUse, writeListCall } from './list-handlers.ts';
import type { OperationKind } from './resources.ts';
import { checkTypes } from './wider-bodies.ts';

/** Writes the handler. @throws NotWritten with the reason if it cannot be written */
export function writeHandler(kind: OperationKind, writing: Writing): { code: CheckedCode; list?: ListUse } {
  const made = new HandlerCode();
  made.takes.add(writing.plan.name);
  if (kind === 'list') {
    const list = writeListCall(writing, made);
    return { code: made.toCode(writing.operation), list };
  }
  const write = {
    create: writeCreateHandler,
    get: writeGetHandler,
    update: writeChangeHandler,
    replace: writeChangeHandler,
    delete: writeDeleteHandler,
  }[kind];
  const condition = conditionOf(writing.operation);
  reportParameters(writing, made, condition ? [condition.name] : []);
  checkTypes(writing);
  write(writing, made, kind);
  return { code: made.toCode(writing.operation) };
}
