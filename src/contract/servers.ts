/** The path that the servers of the contract have, whatever their origin. */

import type { Json, Refuse } from '../schema/json.ts';
import type { Operation } from './contract.ts';

interface Server {
  url: string;
  variables?: Record<string, { default: string; enum?: string[] }>;
}

/** OpenAPI 3.1, section 4.8.1.1: what holds where no server is named. */
const ROOT: Server = { url: '/' };

/** `/v1` for `https://host/v1`, `{origin}/v1` and `/v1`; may be empty. That of the first server, where they have several. */
export function toPrefix({ servers }: Json, refuse: Refuse): string {
  const [prefix = ''] = (servers?.length > 0 ? servers : [ROOT]).flatMap(prefixesOf);
  if (!/^(\/[\w.~-]+)*$/.test(prefix)) refuse(`servers: ${prefix} cannot be the path before that of each operation`);
  return prefix;
}

/** One for each value of a variable at the start of the URL: the value may contain a path. Others have their defaults. */
function prefixesOf({ url, variables = {} }: Server): string[] {
  const [start = '', name = ''] = /^\{(\w+)\}/.exec(url) ?? [];
  const { default: value = '', enum: values = [value] } = variables[name] ?? {};
  const rest = url.slice(start.length).replace(/\{([^}]*)\}/g, (_, other) => variables[other]?.default ?? '');
  return values.map((origin) => (origin + rest).replace(/^[a-z]+:\/\/[^/]+/i, '').replace(/\/+$/, ''));
}

/** The server's own routes, which stand beside the prefix. The page of the documentation gives `/` up where the contract has it. */
const OWN = /^\/(docs(\/.*)?|openapi\.(yaml|json)|\.well-known\/api-catalog|livez|readyz)$/;

export function checkOwnPaths(prefix: string, operations: Iterable<Operation>, refuse: Refuse): void {
  for (const { id, path } of operations) {
    if (OWN.test(prefix + path)) refuse(`operation ${id}: ${prefix}${path} is served by the server itself`);
  }
}
