/**
 * Turns `throw null` and `throw undefined` in a hook or a parser into an Error: Fastify takes both for success, and skips the other hooks
 * of that kind, even the one that checks keys.
 */
import type { FastifyInstance } from 'fastify';

const KINDS = ['onRequest', 'preParsing', 'preValidation', 'preHandler', 'preSerialization', 'onSend'] as const;

// biome-ignore lint/suspicious/noExplicitAny: a hook of any kind, each with parameters of its own
type Any = (this: unknown, ...args: any[]) => any;

/** Wraps the hooks and parsers that are added from now on, until the returned function is called. */
export function addNullErrors(app: FastifyInstance): () => void {
  const { addHook, addContentTypeParser } = app;
  let isOver = false;

  app.addHook = function (this: FastifyInstance, kind: (typeof KINDS)[number], hook: never) {
    return addHook.call(this, kind as 'onRequest', KINDS.includes(kind) ? toThrowing(hook) : hook);
  } as typeof addHook;

  app.addContentTypeParser = function (this: FastifyInstance, ...args: unknown[]) {
    const parser = args.pop() as Any;
    return (addContentTypeParser as Any).call(this, ...args, toRejecting(toThrowing(parser)));
  } as typeof addContentTypeParser;

  app.addHook('onRoute', (route) => {
    if (isOver) return;
    for (const kind of KINDS) {
      const hooks = [route[kind] ?? []].flat() as Any[];
      if (hooks.length > 0) Object.assign(route, { [kind]: hooks.map(toThrowing) });
    }
  });

  return () => {
    isOver = true;
    Object.assign(app, { addHook, addContentTypeParser });
  };
}

/** An async function is not wrapped: Fastify looks at its name and parameters, and handles its rejection correctly. */
function toThrowing<Given extends Any>(given: Given): Given {
  if (typeof given !== 'function' || given.constructor.name === 'AsyncFunction') return given;
  return function (...args) {
    try {
      return given.apply(this, args);
    } catch (error) {
      return refuse(error);
    }
  } as Given;
}

/** Fastify takes a parser's promise that rejects with nothing for an empty body. */
const toRejecting = (parser: Any): Any =>
  function (...args) {
    const result = parser.apply(this, args);
    return result instanceof Promise ? result.catch(refuse) : result;
  };

function refuse(error: unknown): never {
  throw error ?? new TypeError(`${error} was thrown`);
}
