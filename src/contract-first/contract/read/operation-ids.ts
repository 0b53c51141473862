/** Makes ids for operations whose id is missing, a duplicate, or no file name: ids name handlers, routes and types. */
import { type Document, mapOperations, operationsOf, type PathItem } from '../../engine/contract/document.ts';
import { isNode } from '../../engine/schema/json.ts';
import { lookUp } from '../../engine/schema/pointers.ts';

const ID = /^[A-Za-z][\w-]*$/;

/** The document, each operation with an id of its own. */
export function withIds(document: Document): Document {
  const items = Object.entries(document.paths).map(([path, item]) => [path, inPlace(item, document)] as const);
  const all = items.flatMap(([path, item]) =>
    operationsOf(item).map(([method, operation]) => ({ path, method, operation })),
  );
  // On some file systems, `findItem.ts` and `finditem.ts` are the same file.
  const taken = new Set<string>();
  const take = (id: string) => ID.test(id) && !taken.has(id.toLowerCase()) && taken.add(id.toLowerCase());
  const unnamed = all.filter(({ operation }) => !take(operation.operationId ?? ''));
  if (unnamed.length === 0) return document;
  const ids = new Map<string, string>();
  for (const { path, method, operation } of unnamed) {
    const derived = derive(method, path);
    let id = [toWords(operation.operationId ?? ''), derived].find(take);
    for (let number = 2; id === undefined; number++) id = [`${derived}${number}`].find(take);
    ids.set(`${method} ${path}`, id);
  }
  const named = items.map(([path, item]) => [
    path,
    mapOperations(item, (operation, method) => {
      const operationId = ids.get(`${method} ${path}`);
      return operationId === undefined ? operation : { ...operation, operationId };
    }),
  ]);
  return { ...document, paths: { ...document.paths, ...Object.fromEntries(named) } };
}

/** The item itself, or the one that it refers to. Two paths may refer to the same item, whose operations have one id. */
export function inPlace(item: PathItem, document: object, seen = new Set<PathItem>()): PathItem {
  const target = isNode(item) && !seen.has(item) ? lookUp(document, item.$ref) : undefined;
  return target === undefined ? item : inPlace(target as PathItem, document, seen.add(item));
}

/** `GET /users/{name}` is `getUsersByName`, as in fastify-openapi-glue. */
function derive(method: string, path: string): string {
  return toWords(`${method} ${path.replace(/\{([^{}]*)\}/g, ' by $1')}`);
}

const toWords = (text: string): string =>
  text
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map((word, index) => (index === 0 ? word : `${word[0]?.toUpperCase()}${word.slice(1)}`))
    .join('');
