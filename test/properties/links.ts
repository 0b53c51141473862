/**
 * Checks that the links of a reply lead to other replies: `Location`, `Link` to the next page, and the `links` of the
 * contract.
 */
import { isDeepStrictEqual } from 'node:util';
import { nextOf, type ReceivedReply, type Service } from '../service.ts';
import { keyAt } from './keys.ts';
import { type Json, type Operation, responseKeyOf } from './operations.ts';

/** The number of further pages that are read from one reply. `pet-session.ts` checks the contents of pages. */
const MOST_PAGES = 3;

/**
 * Follows all links of a reply to this operation.
 * @throws Error if a link does not lead to a 200, or Location to something other than the reply
 */
export async function followLinks(
  service: Service,
  operations: Operation[],
  operation: Operation,
  reply: ReceivedReply,
): Promise<void> {
  const { location } = reply.headers;
  if (location !== undefined) {
    const { body } = await follow(service, operations, location);
    if (!isDeepStrictEqual(body, reply.body))
      throw new Error(`what is at ${location} is not what was made: ${reply.text}`);
  }

  let next = nextOf(reply);
  for (let page = 0; next !== undefined && page < MOST_PAGES; page++)
    next = nextOf(await follow(service, operations, next));

  for (const link of Object.values<Json>(
    operation.responses[responseKeyOf(operation, reply.status) as string]?.links ?? {},
  )) {
    await follow(service, operations, toLinkedUrl(link, operations, reply.body));
  }
}

async function follow(service: Service, operations: Operation[], url: string): Promise<ReceivedReply> {
  const { search, headers } = keyAt(url, operations);
  const reply = await service.request(url + search, { key: null, headers });
  if (reply.status !== 200) throw new Error(`the link to ${url} leads to ${reply.status}: ${reply.text}`);
  return reply;
}

/**
 * Returns the URL of a link in the contract (OpenAPI 3.1, section 4.8.20), with its parameters from the body of the
 * reply.
 */
function toLinkedUrl({ operationId, parameters }: Json, operations: Operation[], body: Json): string {
  const { path } = operations.find(({ id }) => id === operationId) as Operation;
  return path.replace(/\{(\w+)\}/g, (_, name) => {
    const [, ...keys] = parameters[name].replace('$response.body#', '').split('/');
    return encodeURIComponent(String(keys.reduce((node: Json, key: string) => node[key], body)));
  });
}
