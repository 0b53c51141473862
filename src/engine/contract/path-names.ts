/**
 * The names of parameters in paths. Names that a router cannot handle are changed: they are never sent, so `{team-id}` may be
 * `{team_id}` inside.
 */
import { type Document, mapOperations, type ParameterNode } from './document.ts';

const NAME = /\{([^{}]*)\}/g;
export const namesIn = (path: string): string[] => [...path.matchAll(NAME)].map(([, name]) => name as string);
export const toName = (name: string) => name.replace(/\W/g, '_');
export const withNames = (path: string) => path.replace(NAME, (_, name) => `{${toName(name)}}`);
/** Two paths that differ in names only are the same to clients. */
export const withoutNames = (path: string) => path.replace(NAME, '{}');

/** The path in URLs, with characters that no URL has percent-encoded (RFC 3986, section 2). The braces are those of names. */
export const encodePath = (path: string): string =>
  path.replace(/[^!-~]+|["<>[\\\]^`|]/g, (text) => encodeURIComponent(text.toWellFormed()));

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
