/** A service: everything that a team writes, as `generated/service.ts` passes it to `run`. */
import type { FastifyInstance } from 'fastify';
// The types of `app.contractFirst` and `request.contractFirst`, for a service's plugins.
import '../engine/request-state.ts';
import type { ToErrorBody } from '../engine/errors/error-body.ts';
import type { Handlers } from '../engine/routes/operations.ts';
import type { ServerOptions } from '../engine/server.ts';
import type { ServiceParts, Settings } from '../engine/services.ts';
import type { VerifyToken } from '../engine/tokens.ts';
import type { Claims } from '../registered.ts';
import type { DomainTransactions } from '../store/changes/transactions.ts';
import type { Awaitable } from '../store/collection.ts';
import type { AnyDomain } from '../store/tables/description.ts';

export interface Service {
  /** The name in package.json, without a scope. API keys begin with it; the database's file, locks and traces also contain it. */
  name: string;
  version: string;
  /** The file of the contract. */
  contract: URL;
  /** The scopes that the operations need, so that the command for keys need not read the contract. */
  scopes: readonly string[];
  domain: AnyDomain;
  handlers: Handlers;
  transactions: DomainTransactions;
  toErrorBody: ToErrorBody;
  /** The environment variables that `buildServices` gets. */
  settings?: Settings;
  buildServices?: (config: never, parts: ServiceParts) => Awaitable<object>;
  verifyToken?: VerifyToken<Claims>;
  /** Loads the module that registers the team's plugins: a command does not need them. */
  loadPlugins?: () => Promise<TeamsPlugins>;
}

/** The module `plugins.ts`, which may also set the paths of the documents and health checks, or turn them off. */
interface TeamsPlugins extends Pick<ServerOptions, 'docs' | 'health'> {
  addPlugins: (app: FastifyInstance) => Promise<void>;
}
