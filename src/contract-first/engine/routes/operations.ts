/** Makes a route for each operation and its handler, with fastify-openapi-glue. */
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

/** The handlers, by operationId. The compiler checks `src/generated/handlers.ts` against the contract. */
export type Handlers = Readonly<Record<string, AnyHandler>>;

interface OperationsOptions extends TeamParts, Pick<RouteParts, 'given' | 'authFor' | 'logger'> {
  contract: Contract;
  compiled?: CompiledOperations;
  handlers: Handlers;
}

/**
 * Adds a route for each operation.
 * @throws ContractError that names every operation without a handler and every handler without an operation
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

  // fastify-openapi-glue would warn about each media type of a reply without a parser. Replies need no parser, so this
  // method reports that all parsers exist.
  Object.defineProperty(app, 'hasContentTypeParser', { value: () => true, configurable: true });
  await app.register(fastifyPlugin(registerGlue, { name: 'fastify-openapi-glue' }), {
    // fastify-openapi-glue changes the document, and does not support bigint. So `toDoubles` copies the document
    // without shared nodes, and replaces each bigint by a double.
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
 * Registers fastify-openapi-glue without its validator. The validator would compile OpenAPI's schema again, which takes
 * a third of the start. The build has already checked the contract, but no option turns the validator off. So its
 * method is replaced by a function that accepts everything. fastify-openapi-glue validates before it first waits, so
 * the method can be restored before any other code runs.
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

/**
 * Compiles one function after the other, between requests, so that the first call of an operation does not have to
 * compile all functions that it needs.
 */
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

/** Writes each colon of a path twice, because a single colon begins a parameter in Fastify. */
export const escapeColons = (path: string) => path.replaceAll(':', '::');

/**
 * Converts a path to the form that Fastify expects, such as `/items/:id`. Fastify itself ends a parameter at `/`, `-` or
 * `.`. A parameter before any other character gets a pattern. Between two parameters, the pattern ends the first one at
 * the first occurrence of the separator. A pattern that tried every occurrence would be slow: for three parameters, in
 * cubic time in the length of the URL.
 */
const toUrl = (path: string) =>
  escapeColons(toRoutePath(path))
    .replace(/\{(\w+)\}([^/.-])(?=[^/]*\{)/g, (_, name, end) => `:${name}([^/${end.replace(/\W/, '\\$&')}]+?)${end}`)
    .replace(/\{(\w+)\}(?=[/.-]|$)/g, ':$1')
    .replace(/\{(\w+)\}/g, ':$1([^/]+?)');
