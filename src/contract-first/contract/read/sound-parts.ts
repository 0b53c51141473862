/** Refuses parts of an operation that are of a wrong kind. A component is judged where it is used, as the kind that is wanted there. */
import type { OperationNode, ParameterNode, PathItem } from '../../engine/contract/document.ts';
import { isNode, type Refuse } from '../../engine/schema/json.ts';
import { findFault } from './validity.ts';

/** A part, and where an operation without other parts has it. */
type Part = [name: string, place: string, operation: Record<string, unknown>];

/** Whether nothing is refused. */
export function isValidComponent(item: PathItem, operation: OperationNode, refuse: Refuse): boolean {
  const problems = partsOf(item, operation).flatMap(([name, at, alone]) => {
    const { place, words } = findFault(alone) ?? {};
    if (place === undefined) return [];
    const within = place.slice(at.length).replace(/^\/headers\/([^/]+)/, ' header $1:');
    return [`${name}:${within.replace(/^\/|(?<=:)\//, ' ')} ${words}`];
  });
  problems.forEach(refuse);
  return problems.length === 0;
}

/** Each alone: the validator stops at the first fault. */
function partsOf(item: PathItem, { parameters = [], requestBody, responses = {} }: OperationNode): Part[] {
  return [
    ...[...(item.parameters ?? []), ...parameters].map(
      (one): Part => [isNamed(one) ? `parameter ${one.name}` : 'a parameter', '/parameters/0', { parameters: [one] }],
    ),
    ...(requestBody === undefined ? [] : [['its body', '/requestBody', { requestBody }] as Part]),
    ...Object.entries(responses).map(
      ([status, one]): Part => [`response ${status}`, `/responses/${status}`, { responses: { [status]: one } }],
    ),
  ];
}

const isNamed = (one: unknown): one is ParameterNode => isNode(one) && typeof one.name === 'string';
