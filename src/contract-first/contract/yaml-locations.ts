/** The locations of the parts of a contract in its text. */
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, visit } from 'yaml';
import { type Document as Contract, operationsOf } from '../engine/contract/document.ts';
import { toName } from '../engine/contract/path-names.ts';
import { toPointer } from '../engine/schema/keys.ts';
import { fromStep } from '../json/pointer.ts';
import { withoutWords } from './read/keywords.ts';
import { withIds } from './read/normal-form.ts';

/** A node, and how many characters are before it, or before its key. */
export interface SourceLocation {
  offset: number;
  node: unknown;
}

/** Keys that problems leave out between the parts that they name. */
const BETWEEN = ['content', 'schema', 'properties', 'allOf', 'anyOf', 'oneOf'];

/** How many references are followed on the way to a place: more are a circle. */
const MOST_REFERENCES = 100;

export class SourceLocations {
  readonly root: SourceLocation;
  readonly #document: Document.Parsed;
  /** How many references may still be followed. */
  #left = 0;

  constructor(document: Document.Parsed) {
    this.root = { offset: 0, node: document.contents };
    this.#document = document;
  }

  /** The place to which the keys lead, or the last one on the way, with the number of keys that are left. References on the way are followed. */
  reach(place: SourceLocation, keys: string[]): SourceLocation & { left: number } {
    this.#left = MOST_REFERENCES;
    return this.#reach(place, keys);
  }

  #reach(place: SourceLocation, keys: string[]): SourceLocation & { left: number } {
    const [key, ...others] = keys;
    if (key === undefined) return { ...place, left: 0 };
    const here = this.#follow(place);
    const next = this.#child(here, key);
    return next ? this.#reach(next, others) : { ...here, left: keys.length };
  }

  #follow(place: SourceLocation): SourceLocation {
    const node = isAlias(place.node) ? place.node.resolve(this.#document) : place.node;
    const reference = isMap(node) ? node.get('$ref') : undefined;
    const pointer = typeof reference === 'string' && reference.startsWith('#/') ? toPointer(reference) : undefined;
    if (pointer === undefined || this.#left === 0) return { ...place, node };
    this.#left -= 1;
    let target: SourceLocation | undefined = this.root;
    for (const step of pointer.split('/')) target &&= this.#child(this.#follow(target), fromStep(step));
    return target ? this.#follow(target) : { ...place, node };
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
    if (pair) return toPlace(pair);
    const between = BETWEEN.flatMap((name) => insideOf(pairOf(node, name)));
    for (const one of between) {
      const found = this.#child(this.#follow(one), key, seen);
      if (found) return found;
    }
    return undefined;
  }

  /** Whether it is the parameter of this name. */
  #isNamed(item: Node, name: string): boolean {
    const { node } = this.#follow({ offset: 0, node: item });
    const own = isMap(node) ? node.get('name') : undefined;
    return typeof own === 'string' && [own, toName(own)].includes(name);
  }
}

type YamlPair = Pair<Node, Node | null>;

/** Names of headers ignore case. */
const pairOf = ({ items }: { items: YamlPair[] }, key: string): YamlPair | undefined =>
  items.find((one) => String(one.key) === key) ??
  items.find((one) => String(one.key).toLowerCase() === key.toLowerCase());

const toPlace = ({ key, value }: YamlPair): SourceLocation => ({ offset: key.range?.[0] as number, node: value });

/** Of several media types it is not known which one is meant. */
function insideOf(pair: YamlPair | undefined): SourceLocation[] {
  if (!pair) return [];
  const place = toPlace(pair);
  const { node } = place;
  if (isSeq(node)) return node.items.map((item) => ({ ...place, node: item }));
  if (String(pair.key) !== 'content') return [place];
  return isMap<Node, Node>(node) && node.items.length === 1 ? node.items.map(toPlace) : [];
}

/** The keys to each operation, by the id that it has for the server. */
export function keysOfOperations(document: Document.Parsed): Map<string, string[]> {
  const { paths } = withIds(withoutWords(document.toJS() as Contract));
  return new Map(
    Object.entries(paths).flatMap(([path, item]) =>
      operationsOf(item).map(([method, { operationId }]) => [operationId as string, ['paths', path, method]] as const),
    ),
  );
}

/** Where each reference and each pattern is first, by its text. */
export function offsetsOfTexts(document: Document.Parsed): Map<string, number> {
  const offsets = new Map<string, number>();
  visit(document, {
    Pair(_, { key, value }) {
      if (!isScalar(key) || !isScalar(value) || !/^(\$ref|pattern)$/.test(String(key.value))) return;
      const text = String(value.value);
      if (!offsets.has(text)) offsets.set(text, key.range?.[0] as number);
    },
  });
  return offsets;
}

/** The keys to the part of a document that begins at this offset. */
export function keysAt(node: unknown, offset: number): string[] {
  const children = isSeq<Node>(node)
    ? node.items.map((item, index) => ({ name: String(index), first: item, child: item }))
    : isMap<Node, Node>(node)
      ? node.items.map(({ key, value }) => ({ name: String(key), first: key, child: value }))
      : [];
  const found = children.findLast(({ first }) => (first.range?.[0] as number) <= offset);
  return found ? [found.name, ...keysAt(found.child, offset)] : [];
}
