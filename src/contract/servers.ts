/** The servers of the contract share one path, whatever their origin. */

import type { Json, Refuse } from '../schema/json.ts';
import type { Operation } from './contract.ts';

interface Server {
  url: string;
  variables?: Record<string, { default: string; enum?: string[] }>;
}

/** OpenAPI 3.1, section 4.8.1.1: what holds where no server is named. */
const ROOT: Server = { url: '/' };

/** `/v1` for `https://host/v1`, `{origin}/v1` and `/v1`, of the document, its paths and its operations alike; may be empty. */
export function toPrefix({ servers = [ROOT], paths = {} }: Json, refuse: Refuse): string {
  const nodes = Object.values<Json>(paths).flatMap((item) => [item, ...Object.values(item)]);
  const all: Server[] = [...servers, ...nodes.flatMap((node) => node.servers ?? [])];
  const prefixes = [...new Set(all.flatMap(prefixesOf))];
  const [prefix = '', ...others] = prefixes;
  if (others.length > 0 || !/^(\/[\w.-]+)*$/.test(prefix)) {
    const found = prefixes.map((name) => name || 'none').join(', ');
    refuse(`servers need one path prefix, such as /v1, or none, not: ${found}`);
  }
  return prefix;
}

/** One for each value of a variable at the start of the URL: the value may contain a path. */
function prefixesOf({ url, variables = {} }: Server): string[] {
  const [start = '', name = ''] = /^\{(\w+)\}/.exec(url) ?? [];
  const { default: value = '', enum: values = [value] } = variables[name] ?? {};
  return values.map((origin) =>
    (origin + url.slice(start.length)).replace(/^[a-z]+:\/\/[^/]+/i, '').replace(/\/$/, ''),
  );
}

/** The server's own routes, which stand beside the prefix. The page of the documentation gives `/` up where the contract has it. */
const OWN = /^\/(docs(\/.*)?|openapi\.(yaml|json)|\.well-known\/api-catalog|livez|readyz)$/;

export function checkOwnPaths(prefix: string, operations: Iterable<Operation>, refuse: Refuse): void {
  for (const { id, path } of operations) {
    if (OWN.test(prefix + path)) refuse(`operation ${id}: ${prefix}${path} is served by the server itself`);
  }
}
