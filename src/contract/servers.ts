/** The servers of the contract share one path, whatever their origin. */
import type { Json, Refuse } from './contract.ts';

/** `/v1` for `https://host/v1`, `{origin}/v1` and `/v1`. */
export function toPrefix(servers: Json[] | undefined, refuse: Refuse): string {
  const prefixes = new Set(
    servers?.map(({ url }) => url.replace(/^([a-z]+:\/\/[^/]+|\{\w+\})/, '').replace(/\/$/, '')),
  );
  const found = [...prefixes].filter(Boolean).join(', ');
  if (!/^(\/[\w.-]+)+$/.test(found)) refuse(`servers need one path prefix, such as /v1, not: ${found || 'none'}`);
  return found;
}
