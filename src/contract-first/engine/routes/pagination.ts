/** The `Link` to the next page (RFC 8288). */
import type { FastifyRequest } from 'fastify';
import type { Operation } from '../contract/contract.ts';
import { stateOf } from '../request-state.ts';
import type { Accepted } from '../requests/checks.ts';
import type { OperationId } from './directed.ts';
import type { UrlOf } from './handler.ts';

/** Makes the link from the request and the cursor of the next page. The build has checked that such a link fits the contract. */
export type ToNextLink = (request: FastifyRequest, cursor: string) => string;

export function buildToNextLink({ id, parameters }: Operation, urlOf: UrlOf): ToNextLink {
  const name = parameters.find(({ in: place, isOpaque }) => isOpaque && place === 'query')?.name;
  return (request, cursor) => {
    if (name === undefined) throw new Error(`${id} has answered a next page, and has no query parameter with x-opaque`);
    const { path, query } = stateOf(request).checked as Accepted;
    return `<${urlOf(id as OperationId, path as never, query as never, { [name]: cursor } as never)}>; rel="next"`;
  };
}
