/**
 * Refuses parts of an operation that are of a wrong kind: OpenAPI's own schema looks at no component, and at no reference that leads to
 * one of another kind.
 */
import { isNode, type Refuse } from '../schema/json.ts';
import type { HeaderNode, OperationNode, ParameterNode, PathItem, ResponseNode } from './document.ts';

const isMap = (value: unknown): value is Record<string, unknown> => isNode(value) && !Array.isArray(value);
/** Where it is there at all. */
const areMaps = (nodes: unknown = {}) => isMap(nodes) && Object.values(nodes).every(isMap);

const CONTENT = 'content must be schemas by media types, such as application/json';
/** Words of a schema, by which a response is none. */
const OF_SCHEMAS = ['schema', 'type', 'properties'];
/** Words of a parameter that are true or false: a text would be taken for true. */
const SWITCHES = ['required', 'explode', 'allowEmptyValue'];

/** Whether nothing is refused. */
export function arePartsSound(
  { parameters: shared = [] }: PathItem,
  { parameters = [], requestBody, responses = {} }: OperationNode,
  refuse: Refuse,
): boolean {
  const problems = [
    ...[...shared, ...parameters].flatMap(ofParameter),
    ...(requestBody === undefined ? [] : ofBody(requestBody)),
    ...Object.entries(responses).flatMap(([status, response]) =>
      ofResponse(response).map((problem) => `response ${status}: ${problem}`),
    ),
  ];
  problems.forEach(refuse);
  return problems.length === 0;
}

function ofParameter(parameter: ParameterNode): string[] {
  if (!isMap(parameter) || typeof parameter.name !== 'string')
    return ['parameters: each needs a name, and in, as in: query'];
  const { name, content } = parameter;
  const wrong = SWITCHES.filter((word) => typeof (parameter[word] ?? false) !== 'boolean');
  const problems = wrong.map((word) => `${word} must be true or false`);
  return [...problems, ...(areMaps(content) ? [] : [CONTENT])].map((problem) => `parameter ${name}: ${problem}`);
}

const ofBody = (body: unknown) =>
  isMap(body) && body.content !== undefined && areMaps(body.content) ? [] : [`its body: ${CONTENT}`];

function ofResponse(response: ResponseNode): string[] {
  if (!isMap(response)) return ['must be an object with a description'];
  const word = OF_SCHEMAS.find((one) => one in response);
  if (word) return [`must not have ${word}, which belongs in its content`];
  const { content, headers = {} } = response;
  if (!isMap(headers)) return ['headers must be headers by their names'];
  const unlike = Object.entries(headers).filter(([, header]) => !isHeader(header));
  return [...(areMaps(content) ? [] : [CONTENT]), ...unlike.map(([name]) => `header ${name} needs a schema`)];
}

/** One that says nothing is any text. */
const isHeader = (header: HeaderNode) => isMap(header) && !('type' in header);
