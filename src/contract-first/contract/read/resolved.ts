/** Replaces the references in the parts of the document that are served. */

import { type Document, operationsOf, type PathItem, type ResolvedDocument } from '../../engine/contract/document.ts';
import type { Refuse } from '../../engine/schema/json.ts';
import { resolveOf } from '../schema/references.ts';
import { nameOf } from './operations.ts';

/** The result is a valid OpenAPI document, too. Problems name their operation. */
export function resolveDocument(document: Document, refuse: Refuse): ResolvedDocument {
  const { openapi, info, security, components = {}, ...rest } = document;
  const resolve = resolveOf(document);
  const paths = Object.entries(rest.paths).map(([path, item]) => [path, resolveItem(path, item)]);
  const securitySchemes = resolve(components.securitySchemes ?? {}, refuse);
  return { openapi, info, security, paths: Object.fromEntries(paths), components: { securitySchemes } };

  function resolveItem(path: string, item: PathItem): PathItem {
    const { $ref, ...own } = item;
    if ($ref) {
      const refuseOwn = (problem: string) => refuse(`path ${path}: ${problem}`);
      return { ...resolve<PathItem>({ $ref }, refuseOwn), ...resolve(own, refuseOwn) };
    }
    const owners = new Map<string, string>(
      operationsOf(item).map(([method, { operationId }]) => [method, nameOf(operationId as string)]),
    );
    const entries = Object.entries(item).map(([key, node]) => {
      const owner = owners.get(key) ?? `path ${path}`;
      return [key, resolve(node, (problem) => refuse(`${owner}: ${problem}`))];
    });
    return Object.fromEntries(entries);
  }
}
