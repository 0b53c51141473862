/** The path that the servers of the contract have, whatever their origin. */

import type { Refuse } from '../schema/json.ts';
import type { Operation } from './contract.ts';
import type { Document, ServerNode } from './document.ts';

/** OpenAPI 3.1, section 4.8.1.1: what holds where no server is named. */
const ROOT: ServerNode = { url: '/' };

/** `/v1` for `https://host/v1`, `//host/v1`, `{origin}/v1` and `/v1`; may be empty. That of the first server, its variables with their defaults. */
export function toPrefix({ servers = [] }: Document, refuse: Refuse): string {
  const { url, variables = {} } = servers[0] ?? ROOT;
  const filled = url.replace(/\{([^{}]*)\}/g, (_, name) => variables[name]?.default ?? '');
  const prefix = filled.replace(/^([a-z][a-z0-9+.-]*:)?\/\/[^/]*/i, '').replace(/(?<!\/)\/+$/, '');
  if (!/^(\/[\w.~:@!$&'()+,;=-]+)*$/.test(prefix))
    refuse(`servers: ${prefix} cannot be the path before that of each operation`);
  return prefix;
}

/** The server's own routes, which stand beside the prefix. The page of the documentation gives `/` up where the contract has it. */
const OWN = /^\/(docs(\/.*)?|openapi\.(yaml|json)|\.well-known\/api-catalog|livez|readyz)$/;

export function checkOwnPaths(prefix: string, operations: Iterable<Operation>, refuse: Refuse): void {
  for (const { id, path } of operations) {
    if (OWN.test(prefix + path)) refuse(`operation ${id}: ${prefix}${path} is served by the server itself`);
  }
}
