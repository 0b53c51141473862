/** Finds the declared reply of a status, and its other media types. */
import type { Reply } from './contract.ts';

/** The reply of the status, of its range, or the default. The server itself may refuse with a status that is not declared. */
export function replyFor<Declared extends Pick<Reply, 'status'>>(
  replies: Declared[],
  status: number,
): Declared | undefined {
  const names = [`${status}`, `${status}`.replace(/..$/, 'XX'), 'DEFAULT'];
  const declared = new Map(replies.map((reply) => [reply.status.toUpperCase(), reply]));
  return declared.get(names.find((name) => declared.has(name)) as string);
}

/** Each reply in each of its media types. */
export const inAllTypes = (replies: Reply[]): Reply[] => replies.flatMap((reply) => [reply, ...reply.others]);
