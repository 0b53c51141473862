/** Replaces names of path parameters that a router cannot handle. */
import { type Document, mapOperations, type ParameterNode } from '../../engine/contract/document.ts';
import { NAME, namesIn, toName, withNames } from '../../engine/contract/path-names.ts';

/** Two paths that differ in names only are the same to clients. */
export const withoutNames = (path: string) => path.replace(NAME, '{}');

/** The document with such names. */
export function withPathNames(document: Document): Document {
  const isOdd = (path: string) => namesIn(path).some((name) => /\W/.test(name));
  const odd = Object.keys(document.paths).filter(isOdd);
  if (odd.length === 0) return document;
  const paths = Object.entries(document.paths).map(([path, item]) => {
    const rewritten = withNames(path);
    // If this is the name of another path, both are refused as duplicates.
    if (!odd.includes(path) || rewritten in document.paths) return [path, item];
    const renamed = <Node extends { parameters?: ParameterNode[] }>(node: Node): Node =>
      node.parameters ? { ...node, parameters: rename(node.parameters, document) } : node;
    return [rewritten, mapOperations(renamed(item), renamed)];
  });
  return { ...document, paths: Object.fromEntries(paths) };
}

/** Follows references, since another path may use the parameter under its own name. */
function rename(parameters: ParameterNode[], document: Document): ParameterNode[] {
  return parameters.map((parameter) => {
    const [, key] = /^#\/components\/parameters\/([^/]+)$/.exec(parameter.$ref ?? '') ?? [];
    const source = key === undefined ? parameter : document.components?.parameters?.[key];
    return source?.in === 'path' && typeof source.name === 'string'
      ? { ...source, name: toName(source.name) }
      : parameter;
  });
}
