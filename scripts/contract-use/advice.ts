/** What to change in a contract where a refusal does not say it already. */
import type { Contract, Reply } from '../../src/engine/contract/contract.ts';
import { toTemplate } from '../../src/engine/replies/error-bodies.ts';

interface Source {
  method: string;
  path: string;
  id: string;
}

const ADVICE: [problem: RegExp, advice: string][] = [
  [/^security scheme .* only bearer tokens/, 'type: http, scheme: bearer'],
  [/^security: .* is not in components/, 'declare it there, or take it out'],
  [/the server sends its errors as/, 'content: { application/json: … }, with the schema of the error'],
  [/in cookie is not supported/, 'send it in a header or the query'],
  [
    /^parameter .*(style|simple types)/,
    'parameters of simple types or arrays of them; what is deeper belongs in a body',
  ],
];

export function toAdvice(
  problem: string,
  source: Source | undefined,
  contract: Contract | undefined,
): string | undefined {
  const [, status] = /^response (\w+): its body cannot be the Error/.exec(problem) ?? [];
  if (source && status) return toErrorAdvice(contract?.operations.get(source.id)?.replies, status);
  return ADVICE.find(([pattern]) => pattern.test(problem))?.[1];
}

/** The mapping that makes what of the contract's own error is known; the rest is for its team. */
function toErrorAdvice(replies: Reply[] = [], status: string): string {
  const schema = replies.find((reply) => reply.status === status)?.schema;
  return `at the top of the contract, x-error-body: ${JSON.stringify(toTemplate(schema))}, with what is true for each "?"`;
}
