/**
 * The body of the server's own errors: `code`, `message`, `status`, and `problems` where the contract's Error has them; or what
 * `x-error-body` makes of the first three. There, `'{status}'` is the number, and any other text has them in place:
 * `{ error: { id: '{status}', text: '{code}: {message}' } }`.
 */
import type { Json } from '../schema/json.ts';

export interface ErrorParts {
  code: string;
  message: string;
  status: number;
  problems?: unknown[];
}

export type ToErrorBody = (parts: ErrorParts) => unknown;

export function buildToErrorBody(template: Json): ToErrorBody {
  return template === undefined ? (parts) => parts : (parts) => fill(template, parts);
}

function fill(node: Json, parts: ErrorParts): unknown {
  if (node === '{status}') return parts.status;
  if (typeof node === 'string')
    return node.replace(/\{(code|message|status)\}/g, (_, name) => parts[name as 'code'].toString());
  if (Array.isArray(node)) return node.map((item) => fill(item, parts));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, fill(value, parts)]));
}
