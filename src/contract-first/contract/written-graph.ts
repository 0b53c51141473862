/** Writes a graph of values as JSON, which `readGraph` reads. Writes equal parts once, wherever they are. */
import { isNode, keywordsOf, type Schema } from '../engine/schema/json.ts';
import { targetOf } from '../engine/schema/subschemas.ts';

/** A piece of a part: a text, the number of another part, or a recursive schema, which has the number of its target and its `$ref`. */
type Piece = string | number | [target: number, of: string];

interface Parts {
  /** The pieces of each part; each part is after the parts that it contains. */
  parts: Piece[][];
  /** The parts that recursive schemas refer to. */
  targets: number[];
  root: number;
}

/** The minimum length of a part with its own number. Shorter parts are written in place. */
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
  /** The targets of recursive schemas, numbered as they are met. */
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
  // Writing a target may add further targets, since it may contain other recursive schemas.
  const ofTargets: number[] = [];
  for (const target of targets.keys()) ofTargets.push(numberOf(target));
  return { parts, targets: ofTargets, root: rootNumber };
}

const between = (pieces: Piece[]) => pieces.flatMap((piece, index) => (index > 0 ? [',', piece] : [piece]));

/** A key that occurs nowhere in the graph. */
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
