/** The parts of the document that are served, with their references replaced. */
import type { Json, Refuse } from '../schema/json.ts';
import { buildResolve } from '../schema/references.ts';
import { METHODS, nameOf } from './operations.ts';

/** The result is a valid OpenAPI document, too. Problems name their operation. */
export function resolveDocument({ openapi, info, security, components = {}, ...rest }: Json, refuse: Refuse): Json {
  const resolve = buildResolve({ components, ...rest });
  const paths = Object.entries<Json>(rest.paths).map(([path, item]) => [path, resolveItem(path, item)]);
  const securitySchemes = resolve(components.securitySchemes ?? {}, refuse);
  return { openapi, info, security, paths: Object.fromEntries(paths), components: { securitySchemes } };

  function resolveItem(path: string, item: Json): Json {
    if (item.$ref) return resolve(item, (problem) => refuse(`path ${path}: ${problem}`));
    const entries = Object.entries<Json>(item).map(([key, node]) => {
      const owner = METHODS.includes(key) ? nameOf(node.operationId) : `path ${path}`;
      return [key, resolve(node, (problem) => refuse(`${owner}: ${problem}`))];
    });
    return Object.fromEntries(entries);
  }
}
