/**
 * Writes a graph of objects as JSON text, which `readGraph` reads. Equal objects are written once and referred to by
 * number.
 */
import { isNode, keywordsOf, type Schema } from '../engine/schema/json.ts';
import { targetOf } from '../engine/schema/subschemas.ts';

/**
 * A piece of an object's JSON: literal text (`string`), the number of a nested object (`number`), or a reference to a
 * recursive schema (`target` is the number of its target, and `of` its `$ref`).
 */
type Piece = string | number | [target: number, of: string];

interface Parts {
  /** The objects, each as a list of pieces. An object comes after the objects that it contains. */
  parts: Piece[][];
  /** The numbers of the objects that references of recursive schemas lead to. */
  targets: number[];
  root: number;
}

/** Equal objects are written only once if their text has at least this length. A shorter text is repeated. */
const SHORT = 30;

export function writeGraph(root: object): string {
  const found = findParts(root);
  const marker = findMarker(found.parts);
  const isShared = buildIsShared(found);
  const numbers = new Map<number, number>();
  const texts: string[] = [];
  const shared: string[] = [];
  const toText = (piece: Piece) => {
    if (typeof piece === 'string') return piece;
    if (typeof piece === 'object') return `{"${marker}":${piece[0]},"of":${JSON.stringify(piece[1])}}`;
    return numbers.has(piece) ? `{"${marker}":${numbers.get(piece)}}` : (texts[piece] as string);
  };
  for (const [number, pieces] of found.parts.entries()) {
    const text = pieces.map(toText).join('');
    texts.push(text);
    if (isShared(number, text)) numbers.set(number, shared.push(text) - 1);
  }
  const targets = found.targets.map((number) => numbers.get(number));
  return `{"marker":"${marker}","targets":[${targets}],"parts":[\n${shared.join(',\n')}],"root":${toText(found.root)}}`;
}

function findParts(root: object): Parts {
  const parts: Piece[][] = [];
  const byPieces = new Map<string, number>();
  const byObject = new Map<object, number>();
  /** The targets of references of recursive schemas. The targets are numbered in the order of their discovery. */
  const targets = new Map<object, number>();

  function numberOf(node: object): number {
    const known = byObject.get(node);
    if (known !== undefined) return known;
    const pieces = Array.isArray(node) ? ['[', ...between(node.map(toPiece)), ']'] : ['{', ...toFields(node), '}'];
    const key = JSON.stringify(pieces);
    const number = byPieces.get(key) ?? parts.push(pieces) - 1;
    byPieces.set(key, number);
    byObject.set(node, number);
    return number;
  }

  function toFields(node: object): Piece[] {
    const fields = Object.entries(node).filter(([, value]) => value !== undefined);
    return fields.flatMap(([key, value], index) => [`${index > 0 ? ',' : ''}${JSON.stringify(key)}:`, toPiece(value)]);
  }

  function toPiece(value: unknown): Piece {
    if (typeof value === 'bigint') return String(value);
    if (!isNode(value) || value instanceof Date) return JSON.stringify(value);
    const target = targetOf(value as Schema);
    if (!target) return numberOf(value);
    if (!targets.has(target)) targets.set(target, targets.size);
    return [targets.get(target) as number, keywordsOf(value as Schema).$ref as string];
  }

  const rootNumber = numberOf(root);
  // The loop also visits targets that `numberOf` adds while it runs, because a target may contain other recursive
  // schemas.
  const ofTargets: number[] = [];
  for (const target of targets.keys()) ofTargets.push(numberOf(target));
  return { parts, targets: ofTargets, root: rootNumber };
}

const between = (pieces: Piece[]) => pieces.flatMap((piece, index) => (index > 0 ? [',', piece] : [piece]));

/**
 * Returns the key that marks references in the written text. The key is `$shared`, followed by as many `$` as are
 * needed so that no text of the graph contains it.
 */
function findMarker(parts: Piece[][]): string {
  const texts = parts.flat().filter((piece) => typeof piece === 'string');
  let marker = '$shared';
  while (texts.some((text) => text.includes(marker))) marker += '$';
  return marker;
}

function buildIsShared({ parts, targets, root }: Parts): (number: number, text: string) => boolean {
  const ofTargets = new Set(targets);
  const uses = new Map<Piece, number>([[root, 1]]);
  for (const piece of parts.flat()) uses.set(piece, (uses.get(piece) ?? 0) + 1);
  return (number, text) => ofTargets.has(number) || ((uses.get(number) as number) > 1 && text.length >= SHORT);
}
