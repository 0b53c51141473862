/** Follows JSON Pointers in a document. */
import { fromStep } from '../../json/pointer.ts';
import { isNode } from './json.ts';

/** The node at a JSON Pointer of the document (RFC 6901, section 6); if it is itself a reference, that is not followed. */
export function lookUp(document: unknown, $ref: unknown): unknown {
  if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return undefined;
  return toPointer($ref)
    ?.split('/')
    .reduce<unknown>((node, key) => ownOf(node, fromStep(key)), document);
}

/** Undefined where the fragment is not percent-encoded UTF-8 (RFC 3986, section 2.5). */
export function toPointer($ref: string): string | undefined {
  try {
    return decodeURIComponent($ref.slice(2));
  } catch {
    return undefined;
  }
}

/** Own properties only: `toString` is not in a document. */
const ownOf = (node: unknown, name: string) => (isNode(node) && Object.hasOwn(node, name) ? node[name] : undefined);
