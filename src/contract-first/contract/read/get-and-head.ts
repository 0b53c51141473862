/**
 * Bodies of GET and HEAD have no meaning (RFC 9110, section 9.3.1), are ignored by OpenAPI 3.0, and not read by Fastify. Fastify adds a
 * HEAD to each GET, unless there is one already: so the contract's HEAD must come first.
 */
import type { Document, OperationNode } from '../../engine/contract/document.ts';

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
