/** Reads a graph of values that the build has written as JSON: equal parts are one object, and recursive schemas refer to their targets. */
import { isNode, type Keywords } from '../schema/json.ts';
import { toRecursion } from '../schema/recursion.ts';
import { parseWithBounds } from './numbers.ts';

interface Graph {
  /** The key of references: `{"$shared": 3}` is part 3, and with `of`, a recursive schema with this `$ref` and target 3. */
  marker: string;
  /** The parts that stand in several places, or are targets; each after those that it contains. */
  parts: unknown[];
  /** The parts that recursive schemas refer to. */
  targets: number[];
  root: Node;
}

type Node = Record<string, unknown>;

export function readGraph(json: string): unknown {
  const { marker, parts, targets, root } = parseWithBounds(json) as Graph;

  function link(node: Node): unknown {
    const { [marker]: number, of } = node;
    if (typeof number !== 'number') return linkFields(node);
    return typeof of === 'string' ? toRecursion(of, () => parts[targets[number] as number] as Keywords) : parts[number];
  }

  function linkFields(node: Node): unknown {
    for (const [key, value] of Object.entries(node)) {
      // Also where the key is `__proto__`.
      if (isNode(value)) Object.defineProperty(node, key, { value: link(value) });
    }
    return node;
  }

  for (const [index, part] of parts.entries()) parts[index] = link(part as Node);
  return link(root);
}
