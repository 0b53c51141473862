/** Makes a route of each operation and its handler, by fastify-openapi-glue. */
import { Validator } from '@seriousme/openapi-schema-validator';
import type { FastifyContextConfig, FastifyInstance, RouteOptions } from 'fastify';
import openapiGlue, { type FastifyOpenapiGlueOptions } from 'fastify-openapi-glue';
import fastifyPlugin from 'fastify-plugin';
import { type Contract, ContractError, type Operation } from '../contract/contract.ts';
import { type Document, nodesOf } from '../contract/document.ts';
import { toDoubles } from '../contract/numbers.ts';
import { toRoutePath } from '../contract/path-names.ts';
import { buildCatalogue } from '../errors/catalogue.ts';
import { toFailureForm } from '../replies/reply-headers.ts';
import { buildTypeCheck, mediaTypesOf } from '../requests/bodies.ts';
import {
  type CompiledOperation,
  type CompiledOperations,
  compileOperations,
  findUnmatched,
  type TeamParts,
} from './compiled-operations.ts';
import type { AnyHandler } from './handler.ts';
import { buildRoute, type RouteParts } from './route.ts';
import { buildUrlOf } from './urls.ts';

/** The handlers by operationId. The compiler checks `src/generated/handlers.ts` against the contract. */
export type Handlers = Readonly<Record<string, AnyHandler>>;

interface OperationsOptions extends TeamParts, Pick<RouteParts, 'given' | 'authFor' | 'logger'> {
  contract: Contract;
  compiled?: CompiledOperations;
  handlers: Handlers;
}

/**
 * Checks that operations and handlers match. @throws ContractError that names every operation without a handler and every handler without
 * an operation
 */
export async function addOperations(
  app: FastifyInstance,
  { contract, handlers, ...others }: OperationsOptions,
): Promise<void> {
  const problems = findUnmatched([...contract.operations.keys()], Object.keys(handlers));
  if (problems.length > 0) throw new ContractError(problems);
  const compiled = others.compiled ?? compileOperations(contract, others);
  compileAhead(app, compiled);
  const urlOf = buildUrlOf(contract);
  const bodyTypes = mediaTypesOf(contract);
  const catalogue = buildCatalogue(others.domain);

  function routeOf(operation: Operation, config: FastifyContextConfig | undefined): Partial<RouteOptions> {
    const own = compiled.get(operation.id) as CompiledOperation;
    const options = buildRoute(operation, {
      ...others,
      handler: handlers[operation.id] as AnyHandler,
      catalogue,
      compiled: own,
      failures: toFailureForm(operation, contract, own.errorFormOf),
      config,
      onlyOwnTypes: buildTypeCheck(operation, bodyTypes),
      urlOf,
      prefix: contract.prefix,
    });
    return { ...options, url: toUrl(operation.path) };
  }

  // glue warns about each media type of a reply that no parser reads, although replies need no parser.
  Object.defineProperty(app, 'hasContentTypeParser', { value: () => true, configurable: true });
  await app.register(fastifyPlugin(registerGlue, { name: 'fastify-openapi-glue' }), {
    // The copy has no shared parts, since glue changes the document. glue does not support bigint.
    specification: { ...toDoubles(contract.glueDocument), servers: [] },
    operationResolver: (id, method, path) => {
      const { 'x-fastify-config': config } = nodesOf(contract.resolved, { path, method }).source;
      return routeOf(contract.operations.get(id) as Operation, config) as RouteOptions;
    },
  });
  Reflect.deleteProperty(app, 'hasContentTypeParser');
}

const { validate } = Validator.prototype;

/**
 * fastify-openapi-glue makes a validator for each contract. The validator would compile OpenAPI's schema again, which takes a third of a
 * start, and no option prevents that. So we replace its validator by one that accepts everything: the contract was checked before. glue
 * calls its validator before it first waits, so the real validator is back before other code can run.
 */
function registerGlue(app: FastifyInstance, options: FastifyOpenapiGlueOptions): Promise<void> | void {
  Validator.prototype.validate = trust;
  try {
    return openapiGlue(app, options);
  } finally {
    Validator.prototype.validate = validate;
  }
}

async function trust(this: Validator, document: Document) {
  this.specification = document;
  this.version = document.openapi.slice(0, '3.1'.length);
  return { valid: true };
}

/** Compiles the operations part by part between requests, so that no first call waits for all its parts. */
function compileAhead(app: FastifyInstance, { compileNext }: CompiledOperations): void {
  let isClosed = false;
  const step = () => {
    if (!isClosed && compileNext()) setImmediate(step);
  };
  app.addHook('onListen', async () => step());
  app.addHook('onClose', async () => {
    isClosed = true;
  });
}

/** A colon begins a parameter in Fastify; a literal colon is written twice. */
export const escapeColons = (path: string) => path.replaceAll(':', '::');

/**
 * The path as Fastify writes it: `/items/:id`. Fastify ends a parameter at `/`, `-` or `.`; before any other character it needs a
 * pattern. If a second parameter follows, the first one ends at the first such character: if it could end at any of them,
 * matching three parameters would take the cube of the URL's length.
 */
const toUrl = (path: string) =>
  escapeColons(toRoutePath(path))
    .replace(/\{(\w+)\}([^/.-])(?=[^/]*\{)/g, (_, name, end) => `:${name}([^/${end.replace(/\W/, '\\$&')}]+?)${end}`)
    .replace(/\{(\w+)\}(?=[/.-]|$)/g, ':$1')
    .replace(/\{(\w+)\}/g, ':$1([^/]+?)');
