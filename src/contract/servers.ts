/** The servers of the contract share one path, whatever their origin. */
import type { Json, Refuse } from './contract.ts';

interface Server {
  url: string;
  variables?: Record<string, { default: string; enum?: string[] }>;
}

/** `/v1` for `https://host/v1`, `{origin}/v1` and `/v1`, of the document, its paths and its operations alike. */
export function toPrefix({ servers = [], paths = {} }: Json, refuse: Refuse): string {
  const nodes = Object.values<Json>(paths).flatMap((item) => [item, ...Object.values(item)]);
  const all: Server[] = [...servers, ...nodes.flatMap((node) => node.servers ?? [])];
  const prefixes = [...new Set(all.flatMap(prefixesOf))];
  const [prefix = '', ...others] = prefixes;
  if (others.length > 0 || !/^(\/[\w.-]+)+$/.test(prefix)) {
    const found = prefixes.map((name) => name || 'none').join(', ') || 'none';
    refuse(`servers need one path prefix, such as /v1, not: ${found}`);
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
