/** `Vary`: the request's headers that a reply depends on. */
import type { FastifyReply } from 'fastify';

/** Adds a header to `Vary` (RFC 9110, section 12.5.5), which a plugin may have set already. */
export const toVary = (reply: FastifyReply, header: string) =>
  [reply.getHeader('vary') ?? [], header].flat().join(', ');
