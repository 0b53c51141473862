/** The handlers by their operations, as TypeScript that the compiler checks. */
import type { ReadContract } from '../src/engine/contract/contract.ts';

export function buildHandlersMap({ operations }: ReadContract): string {
  const ids = [...operations.keys()];
  // Some operationIds are not valid as variables: `delete`, `find-pet`. None has a `$`.
  const nameOf = (id: string) => `${id.replaceAll('-', '$')}Handler`;
  return `${ids.map((id) => `import ${nameOf(id)} from '../../handlers/${id}.ts';`).join('\n')}
import type { Handler, OperationId } from '../engine/index.ts';

export const handlers = {
${ids.map((id) => `  ${id.includes('-') ? `'${id}'` : id}: ${nameOf(id)},`).join('\n')}
} satisfies { [Id in OperationId]: Handler<Id> };
`;
}
