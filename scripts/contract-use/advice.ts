/** What to change in a contract where a refusal does not say it already. */
import type { Contract } from '../../src/contract/contract.ts';
import type { Json } from '../../src/schema/json.ts';

interface Source {
  method: string;
  path: string;
  id?: string;
}

const ADVICE: [problem: RegExp, advice: string][] = [
  [/^security scheme .* only bearer keys/, 'type: http, scheme: bearer; it may have scopes, as those of OAuth 2'],
  [/^security .* is not one scheme/, 'each alternative names one scheme that is declared; [] where no key is needed'],
  [/the server sends its errors as/, 'content: { application/json: … }, with the schema of the error'],
  [/in cookie is not supported/, 'send it in a header or the query'],
  [
    /^parameter .*(style|one simple type)/,
    'parameters of simple types or arrays of them; what is deeper belongs in a body',
  ],
  [/strict mode: unknown keyword/, 'correct it, or write it as x-…, where it says nothing about the value'],
  [/which no properties name$/, 'name the field in properties, too'],
  [/unknown format/, "leave it out, or write x-format: the text is the handler's to understand"],
];

export function toAdvice(
  problem: string,
  source: Source | undefined,
  contract: Contract | undefined,
): string | undefined {
  if (source && /^its operationId is missing/.test(problem)) return `operationId: ${toId(source)}`;
  const [, status] = /^response (\w+): its body cannot be the Error/.exec(problem) ?? [];
  if (source && status) return toErrorAdvice(contract?.operations.get(source.id as string)?.replies, status);
  return ADVICE.find(([pattern]) => pattern.test(problem))?.[1];
}

/** `find pet by id` -> `find-pet-by-id`; without any, from the method and the path. */
function toId({ method, path, id = `${method} ${path}` }: Source): string {
  return id
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '');
}

/** The mapping that makes the fields of the contract's own error of those of ours. */
function toErrorAdvice(replies: { status: string; schema: Json }[] = [], status: string): string {
  const schema = replies.find((reply) => reply.status === status)?.schema;
  const fields = Object.entries<Json>(fieldsOf(schema)).flatMap(([name, field]) => toPart(name, field));
  return `at the top of the contract, x-error-body: { ${fields.join(', ')} }, so that its errors are the contract's`;
}

const fieldsOf = (schema: Json): Json => Object.assign({}, schema?.properties, ...(schema?.allOf ?? []).map(fieldsOf));

function toPart(name: string, { type }: Json): string[] {
  if (type === 'integer' || type === 'number') return [`${name}: '{status}'`];
  if (type === 'string') return [`${name}: '${/code|type|name|error$/i.test(name) ? '{code}' : '{message}'}'`];
  return [];
}
