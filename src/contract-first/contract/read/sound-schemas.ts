/** Refuses operations with schemas that are none. */
import type { MediaNode, OperationNode, PathItem } from '../../engine/contract/document.ts';
import type { Refuse, Schema } from '../../engine/schema/json.ts';
import { checkKeywordTypes } from '../schema/shapes.ts';

type Named = [name: string, schema: Schema | undefined];

/** Whether nothing is refused. */
export function isValidOperation(item: PathItem, operation: OperationNode, refuse: Refuse): boolean {
  const faulty = schemasOf(item, operation).filter(
    ([name, schema]) => schema !== undefined && !checkKeywordTypes(schema, name, refuse),
  );
  return faulty.length === 0;
}

function schemasOf(item: PathItem, { parameters = [], requestBody, responses = {} }: OperationNode): Named[] {
  const all = [...(item.parameters ?? []), ...parameters];
  return [
    ...all.flatMap(({ name, schema, content }) => [
      [`parameter ${name}`, schema] as Named,
      ...ofContents(`parameter ${name}`, content),
    ]),
    ...ofContents('request.body', requestBody?.content),
    ...Object.entries(responses).flatMap(([status, { content, headers = {} }]) => [
      ...ofContents(`response ${status}: body`, content),
      ...Object.entries(headers).map(([name, { schema }]): Named => [`response ${status}: header ${name}`, schema]),
    ]),
  ];
}

const ofContents = (name: string, content: Record<string, MediaNode> = {}) =>
  Object.values(content).map(({ schema }): Named => [name, schema]);
