/** The type of a service: everything that a team writes. `generated/service.ts` passes it to `run`. */
import type { FastifyInstance } from 'fastify';
// The import adds the types of `app.contractFirst` and `request.contractFirst`, which a service's plugins use.
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
  /**
   * The name in package.json, without its scope. API keys begin with it, and the names of the database file, of locks
   * and of traces contain it.
   */
  name: string;
  version: string;
  /** The URL of the contract's YAML file. */
  contract: URL;
  /**
   * The scopes that the operations require. The commands for keys need this list, because they do not load the
   * contract.
   */
  scopes: readonly string[];
  domain: AnyDomain;
  handlers: Handlers;
  transactions: DomainTransactions;
  toErrorBody: ToErrorBody;
  /** The environment variables that the team declares. `buildServices` gets their values. */
  settings?: Settings;
  buildServices?: (config: never, parts: ServiceParts) => Awaitable<object>;
  verifyToken?: VerifyToken<Claims>;
  /**
   * Loads the module that registers the team's plugins. Commands do not call this function, because they need no
   * plugins.
   */
  loadPlugins?: () => Promise<TeamsPlugins>;
}

/**
 * The module `plugins.ts` of a team. The module may also set the paths of the documentation and of the health checks,
 * or turn them off.
 */
interface TeamsPlugins extends Pick<ServerOptions, 'docs' | 'health'> {
  addPlugins: (app: FastifyInstance) => Promise<void>;
}
