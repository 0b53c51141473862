/** Rules of descriptions, and of the document as a whole. */
import { resolveReference } from './references.js';

/** Fields within a condition, or in the schema of a text, are described elsewhere or not at all. */
const CONDITION = /(?<!\/properties)\/(if|then|else|not|dependentSchemas|contentSchema)\//;

/** Each part that a client sends or receives is described, where it stands or behind its `$ref`. */
export function descriptions() {
  return {
    Operation: (operation, ctx) => check(operation, `operation ${operation.operationId}`, ctx.location, ctx),
    Parameter: (parameter, ctx) => check(parameter, `parameter ${parameter.name}`, ctx.location, ctx),
    Header: (header, ctx) => check(header, `header ${ctx.key}`, ctx.location, ctx),
    RequestBody: (body, ctx) => check(body, 'request body', ctx.location, ctx),
    NamedSchemas: (schemas, ctx) => checkEach(schemas, 'schema', ctx),
    SchemaProperties(fields, ctx) {
      if (!CONDITION.test(ctx.location.pointer)) checkEach(fields, 'field', ctx);
    },
  };
}

function checkEach(nodes, kind, ctx) {
  for (const [name, node] of Object.entries(nodes)) check(node, `${kind} ${name}`, ctx.location.child(name), ctx);
}

function check(source, name, location, ctx) {
  if (source?.description || resolveReference(source, location, ctx).node.description) return;
  ctx.report({ message: `The ${name} must have a description.`, location });
}

const RUNNING = /<script\b|<[a-z][^>]*\bon[a-z]+\s*=|\bjavascript:|\beval\s*\(/i;

/** Descriptions are Markdown that pages show as HTML: nothing in them runs. */
export function texts() {
  return {
    any(node, { location, report }) {
      const [found] = RUNNING.exec(node?.description) ?? [];
      if (!found) return;
      report({ message: `A description must not have ${found}.`, location: location.child('description') });
    },
  };
}

/** Every server has the same path prefix, and it is the major version: `/v1` for version 1.x.y. */
export function servers() {
  return {
    Root({ info, servers = [] }, { location, report }) {
      const prefix = `/v${String(info?.version).split('.')[0]}`;
      for (const [index, { url }] of servers.entries()) {
        const path = String(url).replace(/^([a-z]+:\/\/[^/]+|\{\w+\})/, '');
        if (path === prefix) continue;
        const message = `The path prefix of server ${url} must be ${prefix}, that of version ${info?.version}.`;
        report({ message, location: location.child(['servers', String(index), 'url']) });
      }
    },
  };
}
