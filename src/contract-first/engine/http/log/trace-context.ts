/** `traceparent` (W3C Trace Context): the trace of a request, and the span that has sent it. */
import type { FastifyInstance } from 'fastify';
import type { StoreCounts } from '../../../store/store.ts';
import type { ToAddress } from '../client-address.ts';
import type { ToLogged } from './logged-urls.ts';
import type { InitRequest } from './request-logger.ts';

/** Adds spans for requests and for calls of collections. Returns the first step of each request. */
export type AddTraces = (
  app: FastifyInstance,
  collections: object,
  counts: StoreCounts,
  toLogged: ToLogged,
  toAddress: ToAddress,
) => InitRequest;

export interface Trace {
  traceId: string;
  parentId: string;
}

/** Section 3.2: in lower case, neither id all zeros. Versions above 00 may have more fields at the end. */
const TRACEPARENT = /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(?:$|-)/;

/** Undefined without a valid header: an invalid one is ignored (section 3.2.2.5). */
export function toTrace(traceparent: string | string[] | undefined): Trace | undefined {
  if (traceparent === undefined) return undefined;
  const [, traceId, parentId] = TRACEPARENT.exec(String(traceparent)) ?? [];
  return traceId === undefined ? undefined : { traceId, parentId: parentId as string };
}
