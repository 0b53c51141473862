/**
 * Sends a sample request to each stored operation. If a create has returned the id of a new record, the later requests
 * use this id.
 */
import type { FastifyInstance } from 'fastify';
import type { AnyContract, Operation } from '../../engine/contract/contract.ts';
import type { FirstRequest } from '../../engine/contract/first-request.ts';
import { isMap, isNode } from '../../engine/schema/json.ts';
import { parseExactJson } from '../../json/exact-json.ts';
import type { WrittenCollection } from '../scaffold/collection-files.ts';
import { type OperationKind, toShape } from '../scaffold/resource-paths.ts';
import { buildSampleRequests } from './sample-requests.ts';

/** The order of the requests. Deletes are last, so that the record exists until then. */
const ORDER: OperationKind[] = ['create', 'get', 'list', 'update', 'replace', 'delete'];

export interface Trial {
  /** The body of each reply with the status 500, by operationId. */
  failures: Map<string, string>;
  /** The first request that has created a record. */
  request: FirstRequest | undefined;
}

/** Sends the requests to `app`. The database of `app` must be used by nobody else. */
export async function tryStored(
  app: FastifyInstance,
  contract: AnyContract,
  key: string,
  collections: WrittenCollection[],
): Promise<Trial> {
  const { toInjected, toRequest } = buildSampleRequests(contract, key);
  const ids = new Map<string, string>();
  const trial: Trial = { failures: new Map(), request: undefined };
  const stepsOf = ({ plan, handlers }: WrittenCollection) =>
    ORDER.flatMap((kind) => {
      const { id = '' } = plan.operations.get(kind) ?? {};
      const operation = handlers.has(id) && contract.operations.get(id);
      return operation ? [{ kind, operation, plan }] : [];
    });
  // The creates come first and the deletes last. Collections are in an order that puts parents before their children.
  const steps = collections.flatMap(stepsOf).sort((a, b) => rankOf(a.kind) - rankOf(b.kind));
  for (const { kind, operation, plan } of steps) {
    const request = toInjected(operation);
    const { statusCode, body } = await app.inject({
      ...request,
      url: withIds(request.url, contract.prefix, operation, ids),
    });
    if (statusCode === 500) trial.failures.set(operation.id, body);
    if (kind !== 'create' || statusCode >= 300) continue;
    trial.request ??= toRequest(operation);
    const id = findId(body, plan.id.name);
    if (id !== undefined) ids.set(toShape(plan.path), id);
  }
  return trial;
}

const rankOf = (kind: OperationKind) => (kind === 'create' ? 0 : kind === 'delete' ? 2 : 1);

/** Returns the URL of a sample request, with the ids of created records in its path. */
function withIds(url: string, prefix: string, { path }: Operation, ids: ReadonlyMap<string, string>): string {
  const [start = '', ...query] = url.slice(prefix.length).split('?');
  const parts = start.split('/');
  let template = '';
  const filled = path.split('/').map((part, index) => {
    template = index === 0 ? part : `${template}/${part}`;
    const known = /^\{[^{}]*\}$/.test(part) ? ids.get(toShape(template)) : undefined;
    return known === undefined ? parts[index] : encodeURIComponent(known);
  });
  return [prefix + filled.join('/'), ...query].join('?');
}

/** Finds the id of the record in a reply, even if the record is inside an envelope. */
function findId(body: string, name: string): string | undefined {
  const open: unknown[] = [parseExactJson(body || 'null')];
  for (const node of open) {
    if (isMap(node) && ['string', 'number', 'bigint'].includes(typeof node[name])) return String(node[name]);
    if (isNode(node)) open.push(...Object.values(node));
  }
  return undefined;
}
