/**
 * Finds a request to show that works: a create with a sample that the server accepts, or else another accepted request.
 */
import type { FastifyInstance } from 'fastify';
import type { Contract, Operation } from '../../engine/contract/contract.ts';
import type { FirstRequest } from '../../engine/contract/first-request.ts';
import { notImplemented } from '../../engine/errors/catalogue.ts';
import type { ToErrorBody } from '../../engine/errors/error-body.ts';
import type { AnyHandler } from '../../engine/routes/handler.ts';
import { build } from '../../start/build.ts';
import type { Service } from '../../start/service.ts';
import { makeKey } from '../../store/api-keys.ts';
import type { AnyDomain } from '../../store/tables/description.ts';
import { buildExampleHandlers } from './examples.ts';
import { buildSampleRequests, needsOf } from './sample-requests.ts';

/** The maximum number of requests that are tried. */
const MOST_TRIES = 20;

/** The parts of a sandbox's server that the contract alone does not determine. */
export interface SandboxParts {
  toErrorBody: ToErrorBody;
  key: string;
  logLevel: 'silent' | 'error';
  domain?: AnyDomain;
  /** Handlers that store records, and replace the handlers that answer with examples. */
  stored?: Record<string, AnyHandler>;
}

/**
 * Builds a server that answers with the contract's examples, or by stored handlers. The server does not run a team's
 * code, except `toErrorBody`.
 */
export function buildSandboxServer(contract: Contract, parts: SandboxParts) {
  const { toErrorBody, key, logLevel, domain = {}, stored = {} } = parts;
  const service = {
    ...{ name: 'sandbox', version: contract.document.info.version, contract: new URL('file:///nowhere/contract') },
    ...{ scopes: [], domain, handlers: { ...buildExampleHandlers(contract), ...stored }, toErrorBody },
    transactions: { all: {}, source: '' },
  };
  const config = { apiKeys: [key], database: { kind: 'memory' as const }, logLevel };
  return build(service, config, { contract });
}

/**
 * Finds a request to show on the reference page of a service, for an operation with a handler that is already written.
 * With `verifyToken`, skips operations that need a token, because the service would reject an API key there.
 */
export async function findExampleRequest(
  contract: Contract,
  { toErrorBody, verifyToken, handlers }: Pick<Service, 'toErrorBody' | 'verifyToken'> & { handlers: object },
): Promise<FirstRequest | undefined> {
  const key = makeKey('sandbox');
  const all: Record<string, unknown> = { ...handlers };
  const needsToken = (operation: Operation) => needsOf(operation).some(({ location }) => location.isToken);
  const isServed = (operation: Operation) =>
    all[operation.id] !== notImplemented && !(verifyToken && needsToken(operation));
  const app = await buildSandboxServer(contract, { toErrorBody, key, logLevel: 'silent' });
  try {
    return await findFirstRequest(app, contract, key, isServed);
  } finally {
    await app.close();
  }
}

/**
 * Finds the first request that the server accepts, among the operations that `isServed` selects. Sends `key` if an
 * operation needs a key. Returns undefined if no request works.
 */
export async function findFirstRequest(
  app: FastifyInstance,
  contract: Contract,
  key: string,
  isServed: (operation: Operation) => boolean = () => true,
): Promise<FirstRequest | undefined> {
  const { toInjected, toRequest } = buildSampleRequests(contract, key);
  const candidates = [...contract.operations.values()].filter(
    (operation) => (operation.body?.contents[0]?.kind ?? 'json') === 'json' && isServed(operation),
  );
  for (const operation of candidates.sort((a, b) => rankOf(a) - rankOf(b)).slice(0, MOST_TRIES)) {
    const { statusCode } = await app.inject(toInjected(operation));
    if (statusCode >= 300) continue;
    return toRequest(operation);
  }
  return undefined;
}

/** Ranks operations by how well they show a service: first creates at a path without parameters, then lists. */
const rankOf = ({ method, path }: Operation): number =>
  Number(path.includes('{')) * 2 + (method === 'POST' ? 0 : method === 'GET' ? 1 : 4);
