/** Examples of the headers that the server itself sends: the shortest and the longest value of each. */
import { challengesOf } from '../../engine/access/challenges.ts';
import type { AnyContract, Operation, Reply } from '../../engine/contract/contract.ts';
import { encodePath } from '../../engine/contract/path-names.ts';
import { replyFor } from '../../engine/contract/replies.ts';
import { REQUEST_IDS } from '../../engine/replies/reply-headers.ts';
import { EXTREME_CURSORS } from '../../store/lists.ts';

export const RETRY_AFTER = ['1', '86400'];

/** Statuses whose replies have a challenge. */
export const CHALLENGED = [401, 403] as const;
/** Statuses whose replies say when to try again. */
export const RETRIED = [429, 503];

/** The values that this reply may have, by lower-case name. */
export function sentHeaders(reply: Reply, operation: Operation, contract: AnyContract): Record<string, string[]> {
  const isFor = (statuses: readonly number[]) =>
    statuses.some((status) => replyFor(operation.replies, status) === reply);
  const isOnce = operation.parameters.some(({ keptHours }) => keptHours !== undefined);
  const challenges = challengesOf(operation.security, contract.title);
  return {
    'x-request-id': REQUEST_IDS,
    'www-authenticate': CHALLENGED.flatMap((status) => (isFor([status]) ? challenges[status] : [])),
    ratelimit: ['"key";r=0;t=1', '"key";r=999999;t=86400'],
    'ratelimit-policy': ['"key";q=1;w=1', '"key";q=999999;w=86400'],
    ...(isFor(RETRIED) && { 'retry-after': RETRY_AFTER }),
    ...(reply.status.startsWith('2') && isOnce && { 'idempotency-replayed': ['true'] }),
    ...(reply.status.startsWith('2') && { link: nextLinks(operation, contract) }),
  };
}

/** The links from a list to its next page. */
function nextLinks({ path, parameters, deprecation }: Operation, { prefix }: AnyContract): string[] {
  if (deprecation?.successor !== undefined) return [];
  const cursors = parameters.filter(({ isOpaque, in: place }) => isOpaque && place === 'query');
  const url = prefix + encodePath(path).replace(/\{\w+\}/g, '1');
  return cursors.flatMap(({ name }) => EXTREME_CURSORS.map((cursor) => `<${url}?${name}=${cursor}>; rel="next"`));
}
