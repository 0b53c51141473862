/** One edit of a contract: where it stands, what it does, and how it is done. */
import type { Json } from '../../src/contract/contract.ts';
import { rename as renameKey } from '../edited-contract.ts';

/** The keys that lead to a node of the contract, from its root. */
export type Path = (string | number)[];

export interface Edit {
  place: Path;
  /** What is done, in words that say nothing of values: edits with the same words are of the same kind. */
  words: string;
  /** The names and values of this one. */
  detail: string;
  apply(contract: Json): void;
}

/** An edit of the node at `place`. */
function change(place: Path, words: string, detail: string, edit: (node: Json) => void): Edit {
  return { place, words, detail, apply: (contract) => edit(nodeAt(contract, place)) };
}

export function put(place: Path, key: string | number, value: Json, words: string): Edit {
  return change(place, words, `${key}: ${show(value)}`, (node) => {
    node[key] = value;
  });
}

export function take(place: Path, key: string | number, words: string): Edit {
  return change(place, words, String(key), (node) => {
    if (Array.isArray(node)) node.splice(key as number, 1);
    else delete node[key];
  });
}

export function rename(place: Path, from: string, to: string, words: string): Edit {
  return change(place, words, `${from} -> ${to}`, (node) => renameKey(node, from, to));
}

/** Several edits that make sense together only; the first says where. */
export function together(words: string, edits: [Edit, ...Edit[]]): Edit {
  const [{ place, detail }] = edits;
  const apply = (contract: Json) => {
    for (const edit of edits) edit.apply(contract);
  };
  return { place, words, detail, apply };
}

export function nodeAt(contract: Json, place: Path): Json {
  return place.reduce((node, key) => node[key], contract);
}

/** `paths./pets.get.parameters.limit`: an item of a list goes by its name where it has one. */
export function toWords(contract: Json, place: Path): string {
  const names = place.map((key, index) => {
    const node = nodeAt(contract, place.slice(0, index + 1));
    return typeof key === 'number' ? (node.name ?? key) : key;
  });
  return names.join('.') || 'contract';
}

function show(value: Json): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
