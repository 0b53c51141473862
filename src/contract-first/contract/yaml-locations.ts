/** Finds the line and column of a JSON Pointer in the YAML text of a contract. */
import { type Document, isAlias, isMap, isSeq, LineCounter, type Node, type Pair, parseDocument } from 'yaml';
import { toRouterName } from '../engine/contract/path-names.ts';
import { toServedType } from '../engine/contract/replies.ts';
import { toPointer } from '../engine/schema/keys.ts';
import { fromPointerToken } from '../json/pointer.ts';
import { withoutNames } from './read/normal-form.ts';

/** A node of the YAML document, and its offset in characters. For the value of a key, this is the offset of the key. */
export interface SourceLocation {
  offset: number;
  node: unknown;
}

/** Keys that the pointer of a problem may omit. For example, the pointer `/name` may mean `allOf/0/properties/name`. */
const BETWEEN = ['content', 'schema', 'properties', 'allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'not'];

/**
 * The maximum number of references to follow. If there are more, the references must form a circle, because
 * `read/references.ts` rejects chains of more than 500 references.
 */
const MOST_REFERENCES = 1000;

export class YamlText {
  readonly root: SourceLocation;
  readonly #lines = new LineCounter();
  readonly #document: Document.Parsed;
  /** The number of references that the current call of `reach` may still follow. */
  #left = 0;

  constructor(text: string) {
    this.#document = parseDocument(text, { lineCounter: this.#lines, merge: true });
    this.root = { offset: 0, node: this.#document.contents };
  }

  /** Returns the line and the column of an offset: `25:7`. */
  toPosition(offset: number): string {
    const { line, col } = this.#lines.linePos(offset);
    return `${line}:${col}`;
  }

  /** Returns the keys that lead from the root to the node at this offset. */
  keysAt = (offset: number): string[] => keysAt(this.#document.contents, offset);

  /**
   * Follows the keys of a JSON Pointer, and the references in between. Returns the location of the last key. If a key
   * is missing, returns the location of the key before it. `left` is the number of keys that were not followed.
   */
  reach(keys: string[], location = this.root): SourceLocation & { left: number } {
    this.#left = MOST_REFERENCES;
    return this.#reach(location, keys);
  }

  #reach(location: SourceLocation, keys: string[]): SourceLocation & { left: number } {
    const [key, ...others] = keys;
    if (key === undefined) return { ...this.#follow(location), left: 0 };
    // The next key may be in this node, next to its `$ref`. Only if it is not there, the reference is followed.
    const beside = isMap<Node, Node>(location.node) ? pairOf(location.node, key) : undefined;
    if (beside) return this.#reach(toLocation(beside), others);
    const here = this.#follow(location);
    const next = this.#child(here, key);
    return next ? this.#reach(next, others) : { ...here, left: keys.length };
  }

  #follow(location: SourceLocation): SourceLocation {
    const node = isAlias(location.node) ? location.node.resolve(this.#document) : location.node;
    const reference = isMap(node) ? node.get('$ref') : undefined;
    const pointer = typeof reference === 'string' && reference.startsWith('#/') ? toPointer(reference) : undefined;
    if (pointer === undefined || this.#left === 0) return { ...location, node };
    this.#left -= 1;
    let target: SourceLocation | undefined = this.root;
    for (const step of pointer.split('/')) target &&= this.#child(this.#follow(target), fromPointerToken(step));
    return target ? this.#follow(target) : { ...location, node };
  }

  #child({ node }: SourceLocation, key: string, seen = new Set<unknown>()): SourceLocation | undefined {
    if (seen.has(node)) return undefined;
    seen.add(node);
    if (isSeq<Node>(node)) {
      const item = node.items[Number(key)] ?? node.items.find((one) => this.#isNamed(one, key));
      return item && { offset: item.range?.[0] as number, node: item };
    }
    if (!isMap<Node, Node>(node)) return undefined;
    const pair = pairOf(node, key);
    if (pair) return toLocation(pair);
    const between = BETWEEN.flatMap((name) => insideOf(pairOf(node, name)));
    for (const one of between) {
      const found = this.#child(this.#follow(one), key, seen);
      if (found) return found;
    }
    return undefined;
  }

  /** True if the node is a parameter with this name. */
  #isNamed(item: Node, name: string): boolean {
    const { node } = this.#follow({ offset: 0, node: item });
    const own = isMap(node) ? node.get('name') : undefined;
    return typeof own === 'string' && [own, toRouterName(own)].includes(name);
  }
}

type YamlPair = Pair<Node, Node | null>;

/**
 * Finds the pair with this key, or otherwise a pair with a key of the same meaning, such as a header's name in other
 * letters.
 */
const pairOf = ({ items }: { items: YamlPair[] }, key: string): YamlPair | undefined =>
  items.find((one) => String(one.key) === key) ?? items.find((one) => toMeaning(String(one.key)) === toMeaning(key));

/**
 * Returns the same text for all keys with the same meaning. Ignored are the case of header names, the names of
 * parameters in paths, and the parameters of media types. A range such as `application/*` counts as JSON.
 */
const toMeaning = (key: string): string => toServedType(withoutNames(key)).toLowerCase();

const toLocation = ({ key, value }: YamlPair): SourceLocation => ({ offset: key.range?.[0] as number, node: value });

/**
 * Returns the locations below a key that a pointer may omit. For a `content` with several media types, returns none,
 * because the pointer does not say which type it means.
 */
function insideOf(pair: YamlPair | undefined): SourceLocation[] {
  if (!pair) return [];
  const location = toLocation(pair);
  const { node } = location;
  if (isSeq(node)) return node.items.map((item) => ({ ...location, node: item }));
  if (String(pair.key) !== 'content') return [location];
  return isMap<Node, Node>(node) && node.items.length === 1 ? node.items.map(toLocation) : [];
}

function keysAt(node: unknown, offset: number): string[] {
  const children = isSeq<Node>(node)
    ? node.items.map((item, index) => ({ name: String(index), first: item, child: item }))
    : isMap<Node, Node>(node)
      ? node.items.map(({ key, value }) => ({ name: String(key), first: key, child: value }))
      : [];
  const found = children.findLast(({ first }) => (first.range?.[0] as number) <= offset);
  return found ? [found.name, ...keysAt(found.child, offset)] : [];
}
