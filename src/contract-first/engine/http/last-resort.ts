/** Sends an error past Fastify when its reply by Fastify fails, for example because a hook throws for each reply. */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { FastifyReply } from 'fastify';

const OF_BODY = ['content-type', 'content-length', 'content-encoding', 'content-range', 'transfer-encoding', 'trailer'];

/** Whether a header belongs to the body of the reply that failed. */
export const isOfBody = (name: string) => OF_BODY.includes(name.toLowerCase());

/** Keeps the reply's headers that can be sent. */
export function sendAtLast(reply: FastifyReply, type: string, text: string): void {
  const { raw } = reply;
  if (raw.headersSent) {
    raw.destroy();
    return;
  }
  const headers = Object.entries(reply.getHeaders()).filter(
    ([name, value]) => !isOfBody(name) && [value].flat().every((one) => isSendable(name, one)),
  );
  // Node would keep the reason phrase of the status that it could not send.
  raw.statusMessage = '';
  raw.writeHead(raw.statusCode, {
    ...(Object.fromEntries(headers) as Record<string, string>),
    'content-type': type,
    'content-length': Buffer.byteLength(text),
  });
  raw.end(text);
}

/** Whether Node accepts the header (RFC 9110, section 5). */
export function isSendable(name: string, value: unknown): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value as string);
    return true;
  } catch {
    return false;
  }
}
