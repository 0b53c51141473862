/**
 * Reads a document that was not validated: finds its nodes with their JSON Pointers, lists its operations, and compiles
 * its schemas.
 */
import { toCurrent } from '../../../contract/read/normal-form.ts';
import { buildResolve } from '../../../contract/read/references.ts';
import { METHODS } from '../../../engine/contract/document.ts';
import { toDoubles } from '../../../engine/contract/numbers.ts';
import { buildChecks, type Check } from '../../../engine/schema/checks.ts';
import { isNode, type Schema } from '../../../engine/schema/json.ts';
import { lookUp } from '../../../engine/schema/keys.ts';
import { toPointerToken } from '../../../json/pointer.ts';

export type Node = Record<string, unknown>;

export interface NodeAt {
  node: Node;
  at: string;
}

/** Reports a change. `change` is a text that begins with the JSON Pointer of the changed node. */
export type ReportChange = (change: string) => void;

/** Returns the target of a reference with its JSON Pointer. Returns any other node with the JSON Pointer `at`. */
export function followReference(document: Node, node: unknown, at: string): NodeAt {
  const { $ref } = Object(node);
  const target = lookUp(document, $ref);
  return isNode(target) ? { node: target, at: $ref.slice(1) } : { node: Object(node), at };
}

/**
 * Returns the entries of the object at `key`: each name, with the value and its JSON Pointer. A value that is a
 * reference is replaced by its target.
 */
export const entriesAt = (document: Node, { node, at }: NodeAt, key: string): [name: string, NodeAt][] =>
  Object.entries(Object(node[key])).map(([name, value]) => [
    name,
    followReference(document, value, `${at}/${toPointerToken(key)}/${toPointerToken(name)}`),
  ]);

interface YamlOperation {
  path: string;
  method: string;
  item: NodeAt;
  operation: NodeAt;
  /** The parameters of the path item, and those of the operation. */
  parameters: NodeAt[];
  /** The body, or an empty node for an operation without a body. */
  body: NodeAt;
  replies: [status: string, NodeAt][];
}

export function operationsIn(document: Node): YamlOperation[] {
  return entriesAt(document, { node: document, at: '' }, 'paths').flatMap(([path, item]) =>
    METHODS.filter((method) => isNode(item.node[method])).map((method) => {
      const operation = { node: item.node[method] as Node, at: `${item.at}/${method}` };
      const parameters = [item, operation].flatMap((one) => entriesAt(document, one, 'parameters'));
      return {
        ...{ path, method, item, operation, parameters: parameters.map(([, parameter]) => parameter) },
        body: followReference(document, operation.node.requestBody, `${operation.at}/requestBody`),
        replies: entriesAt(document, operation, 'responses'),
      };
    }),
  );
}

interface Compiled {
  /** The schema with its references replaced, converted to OpenAPI 3.1. */
  schema: Schema;
  check: Check;
}

/**
 * Builds a function that compiles a schema. For a faulty schema it returns undefined. The fault is reported later, by
 * the judgement of the contract.
 */
export function buildCompile(document: Node): (schema: Schema) => Compiled | undefined {
  const isOlder = String(document.openapi).startsWith('3.0');
  const toOwn = <Kind extends object>(node: Kind): Kind => (isOlder ? toCurrent(node) : node);
  const resolve = buildResolve(toOwn(document));
  const buildCheck = buildChecks({ isJudged: true });
  return (written) => {
    const { schema } = resolve(toOwn({ schema: written }), () => {});
    let isSound = true;
    const check = buildCheck(toDoubles(schema), { name: 'it', at: '/it' }, () => {
      isSound = false;
    });
    return isSound ? { schema, check } : undefined;
  };
}
