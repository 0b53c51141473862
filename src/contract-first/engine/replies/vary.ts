/** `Vary`: the request's headers that a reply depends on. */
import type { FastifyReply } from 'fastify';

/** Adds names to `Vary` (RFC 9110, section 12.5.5), which a plugin may have set already. Each is there once. */
export function toVary(reply: FastifyReply, names: string): string {
  const all = [reply.getHeader('vary') ?? [], names].flat().join(',').split(',');
  return [...new Map(all.map((name) => [name.trim().toLowerCase(), name.trim()])).values()].join(', ');
}
