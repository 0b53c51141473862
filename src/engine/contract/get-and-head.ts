/**
 * GET and HEAD with a body mean nothing (RFC 9110, section 9.3.1), and OpenAPI 3.0 has them ignored: Fastify does not read one. It makes
 * a HEAD of each GET, unless there is one already: so that of the contract comes first.
 */
import type { Document, OperationNode } from './document.ts';

export function withGetAndHead(document: Document): Document {
  const paths = Object.entries(document.paths).map(([path, { head, ...item }]) => [
    path,
    { ...(head && { head: withoutBody(head) }), ...item, ...(item.get && { get: withoutBody(item.get) }) },
  ]);
  return { ...document, paths: Object.fromEntries(paths) };
}

function withoutBody({ requestBody: _, ...operation }: OperationNode): OperationNode {
  return operation;
}
