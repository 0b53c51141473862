/** Finds the path prefix of the contract's servers. */
import type { Operation } from '../../engine/contract/contract.ts';
import type { Document, ServerNode } from '../../engine/contract/document.ts';
import type { Refuse } from '../../engine/schema/json.ts';

/** The default server (OpenAPI 3.1, section 4.8.1.1). */
const ROOT: ServerNode = { url: '/' };

/**
 * `/v1` for `https://host/v1`, `//host/v1`, `{origin}/v1` and `/v1`; may be empty. Reads the first server, with the defaults of variables.
 */
export function toPrefix({ servers = [] }: Document, refuse: Refuse): string {
  const { url, variables } = servers[0] ?? ROOT;
  if (typeof url !== 'string') {
    refuse('servers: the first one needs a url, a text such as /v1');
    return '';
  }
  const filled = url.replace(/\{([^{}]*)\}/g, (_, name) => Object(variables)[name]?.default ?? '');
  const prefix = filled.replace(/^([a-z][a-z0-9+.-]*:)?\/\/[^/]*/i, '').replace(/(?<!\/)\/+$/, '');
  if (!/^(\/[\w.~:@!$&'()+,;=-]+)*$/.test(prefix))
    refuse(`servers: ${prefix} cannot be the path before that of each operation`);
  return prefix;
}

/** The server's own routes, beside the prefix. If the contract has a path `/`, the redirect to the documentation is left out. */
const OWN = /^\/(docs(\/.*)?|openapi\.(yaml|json)|\.well-known\/api-catalog|livez|readyz)$/;

export function checkOwnPaths(prefix: string, operations: Iterable<Operation>, refuse: Refuse): void {
  for (const { id, path } of operations) {
    if (OWN.test(prefix + path)) refuse(`operation ${id}: ${prefix}${path} is served by the server itself`);
  }
}
