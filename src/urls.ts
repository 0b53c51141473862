/** The URLs of the operations, made from the contract's paths. */
import type { Contract } from './contract.ts';
import type { UrlOf } from './handler.ts';

export function buildUrlOf({ prefix, operations }: Contract): UrlOf {
  const paths = new Map([...operations.values()].map(({ id, path }) => [id as string, prefix + path]));
  return (id, params, query) => {
    const values = params as Record<string, unknown>;
    const path = (paths.get(id) as string).replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(values[name])));
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query ?? {})) {
      if (value !== undefined) search.set(name, String(value));
    }
    return search.size > 0 ? `${path}?${search}` : path;
  };
}
