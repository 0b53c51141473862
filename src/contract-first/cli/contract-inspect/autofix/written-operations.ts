/** The operations of a document that nobody has checked yet, each node with its JSON Pointer. */
import { METHODS } from '../../../engine/contract/document.ts';
import { isNode } from '../../../engine/schema/json.ts';
import { lookUp } from '../../../engine/schema/keys.ts';
import { toStep } from '../../../json/pointer.ts';
import type { Node } from './unused-components.ts';

export interface Placed {
  node: Node;
  at: string;
}

/** Reports a change: the pointer, and what has been changed there. */
export type ReportChange = (change: string) => void;

/** The target of a reference, where it is. */
export function follow(document: Node, node: unknown, at: string): Placed {
  const { $ref } = Object(node);
  const target = lookUp(document, $ref);
  return isNode(target) ? { node: target, at: $ref.slice(1) } : { node: Object(node), at };
}

/** The values of a node by their names, with their pointers. */
export const entriesAt = (document: Node, { node, at }: Placed, key: string): [name: string, Placed][] =>
  Object.entries(Object(node[key])).map(([name, value]) => [
    name,
    follow(document, value, `${at}/${toStep(key)}/${toStep(name)}`),
  ]);

export function operationsIn(document: Node): { path: string; item: Placed; method: string; operation: Placed }[] {
  return entriesAt(document, { node: document, at: '' }, 'paths').flatMap(([path, item]) =>
    METHODS.filter((method) => isNode(item.node[method])).map((method) => {
      const operation = { node: item.node[method] as Node, at: `${item.at}/${method}` };
      return { path, item, method, operation };
    }),
  );
}
