/** Checks the headers of handlers' answers against the contract. */
import { parseExactJson } from '../../json/exact-json.ts';
import type { Operation, Reply } from '../contract/contract.ts';
import type { HeaderNode } from '../contract/document.ts';
import { isJson } from '../contract/media-types.ts';
import type { BuildCheck } from '../schema/checks.ts';
import { keywordsOf, type Refuse } from '../schema/json.ts';
import { OWN_HEADERS } from './sent-headers.ts';

/** @throws Error that says where the headers break the contract, for the log */
export type CheckHeaders = (headers: object) => void;

/** Undefined for a reply without headers of the handler. */
export function buildCheckHeaders(
  buildCheck: BuildCheck,
  { id, deprecation }: Operation,
  { status, headers }: Reply,
  refuse: Refuse,
): CheckHeaders | undefined {
  // The server adds the link to the successor to a handler's own links.
  const own = deprecation ? [...OWN_HEADERS, 'link'] : OWN_HEADERS;
  const declared = Object.entries(headers).filter(([name]) => !own.includes(name.toLowerCase()));
  if (declared.length === 0) return undefined;
  // Refused at the start: a handler would fail only after it has stored something.
  for (const problem of declared.flatMap(findUnsendable)) refuse(`response ${status}: ${problem}`);
  const jsons = declared.filter(([, { content = {} }]) => Object.keys(content).some(isJson)).map(([name]) => name);
  const toSchema = ({ schema, content = {} }: HeaderNode) => schema ?? Object.values(content)[0]?.schema ?? true;
  const schema = {
    type: 'object',
    properties: Object.fromEntries(declared.map(([name, header]) => [name, toSchema(header)])),
    required: declared.flatMap(([name, { required }]) => (required ? [name] : [])),
  };
  const problemsOf = buildCheck(schema, { name: `response ${status}: headers`, at: '/header' }, refuse);
  return (answered) => {
    const problems = problemsOf(jsons.length === 0 ? answered : withValues(answered, jsons));
    if (problems) throw new Error(`${id} has answered ${status} against the contract: ${problems.join('; ')}`);
  };
}

/** The headers with the values of those that are JSON. Text that is none stays text. */
function withValues(answered: object, names: string[]): object {
  const headers: Record<string, unknown> = { ...answered };
  for (const name of names.filter((one) => one in headers)) {
    try {
      headers[name] = parseExactJson(String(headers[name]));
    } catch {}
  }
  return headers;
}

/** RFC 9110, section 5.1. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** RFC 9110, section 5.5. */
export const UNSENDABLE = /[^\t -~\x80-\xff]/;

/** Finds names and values in the contract that no header may have. */
function findUnsendable([name, { schema }]: [string, HeaderNode]): string[] {
  if (!NAME.test(name)) return [`header ${name}: no header may have this name`];
  const { const: only = [], enum: several = [] } = keywordsOf(schema);
  const values = [only, several].flat();
  const value = values.find((one) => UNSENDABLE.test(String(one)));
  return value === undefined ? [] : [`header ${name}: no header may have the value ${JSON.stringify(value)}`];
}
