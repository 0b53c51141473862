/** The handlers by their operations, as TypeScript that the compiler checks. */
import type { ReadContract } from '../engine/contract/contract.ts';
import { named, type Source, source } from './source-text.ts';

export function buildHandlersMap({ operations }: ReadContract): Source {
  const ids = [...operations.keys()];
  // Some operationIds are not valid as variables: `delete`, `find-book`. None has a `$`.
  const nameOf = (id: string) => named(`${id.replaceAll('-', '$')}Handler`);
  return source`${ids.map((id) => source`import ${nameOf(id)} from '../../handlers/${named(id)}.ts';\n`)}import type { Handler, OperationId } from 'contract-first';

export const handlers = {
${ids.map((id) => source`  ${id.includes('-') ? id : named(id)}: ${nameOf(id)},\n`)}} satisfies { [Id in OperationId]: Handler<Id> };
`;
}
