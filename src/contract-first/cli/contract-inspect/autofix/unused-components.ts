/** Components of a contract to which no operation leads, and of which nothing can be made. */
import { checkKeywordTypes } from '../../../contract/schema/shapes.ts';
import { isNode } from '../../../engine/schema/json.ts';
import { lookUp } from '../../../engine/schema/keys.ts';

export type Node = Record<string, unknown>;

/** Takes the key out of the node at this pointer. */
export type Drop = (node: Node, key: string, at: string, why: string) => void;

export function dropUnused(document: Node, drop: Drop): void {
  const used = new Set<unknown>();
  reach(document, document.paths, used);
  reach(document, document.webhooks, used);
  const isSound = (component: unknown, kind: string) =>
    (isNode(component) || typeof component === 'boolean') &&
    (kind !== 'schemas' || checkKeywordTypes(component, '', () => {})) &&
    !danglesIn(component, document) &&
    !isItself(document, component);
  // One that goes may leave another with a reference to nothing.
  for (let found = true; found; ) {
    found = false;
    for (const [kind, named] of Object.entries(Object(document.components) as Node)) {
      if (kind.startsWith('x-') || !isNode(named)) continue;
      for (const [name, component] of Object.entries(named)) {
        if (used.has(component) || isSound(component, kind)) continue;
        drop(named, name, `/components/${kind}`, 'no operation uses it, and nothing can be made of it');
        found = true;
      }
    }
  }
}

const targetOf = (document: Node, { $ref }: Node) => lookUp(document, $ref);

function reach(document: Node, node: unknown, used: Set<unknown>): void {
  if (!isNode(node) || used.has(node)) return;
  used.add(node);
  for (const next of [targetOf(document, node), ...Object.values(node)]) reach(document, next, used);
}

/** Whether a reference in it leads to nothing. */
export function danglesIn(node: unknown, document: Node): boolean {
  if (!isNode(node)) return false;
  if (typeof node.$ref === 'string' && lookUp(document, node.$ref) === undefined) return true;
  return Object.values(node).some((child) => danglesIn(child, document));
}

/** Whether it is nothing but itself. */
function isItself(document: Node, node: unknown, open = new Set<unknown>(), done = new Set<unknown>()): boolean {
  if (!isNode(node) || done.has(node)) return false;
  if (open.has(node)) return true;
  open.add(node);
  const parts = [targetOf(document, node), node.allOf].flat();
  const found = parts.some((part) => isItself(document, part, open, done));
  open.delete(node);
  done.add(node);
  return found;
}
