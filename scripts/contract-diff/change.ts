/** A change of the contract: what it does to clients, where it is, what it is, and why it matters. */
import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'lossless-json';
import type { Json } from './expand.ts';

export type Verdict = 'breaking' | 'compatible' | 'documentation';

export interface Change {
  verdict: Verdict;
  /** As a reader of the contract finds it: `createPet: body.name`. */
  place: string;
  what: string;
  why: string;
}

export type Changes = Generator<Change, void>;

/** Keys whose values are for people only. */
export const WORDS = new Set([
  ...['title', 'summary', 'description', 'example', 'examples', 'externalDocs', '$comment', 'bearerFormat'],
]);

export function toChange(verdict: Verdict, place: string, what: string, why: string): Change {
  return { verdict, place, what, why };
}

/** What has the same name in both, or is in one of them only. */
export function pairs(before: Json = {}, after: Json = {}): [name: string, before: Json, after: Json][] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const of = (parts: Json, name: string) => (Object.hasOwn(parts, name) ? parts[name] : undefined);
  return [...names].map((name) => [name, of(before, name), of(after, name)]);
}

/**
 * The keys that no other rule judges. A change of what people read is documentation; any other counts as breaking, so
 * that a change which this comparison does not know fails.
 */
export function* compareRest(
  before: Json,
  after: Json,
  place: string,
  judged: string[],
  why = 'No rule judges this, so it is held to be breaking.',
): Changes {
  for (const [key, old, now] of pairs(before, after)) {
    if (judged.includes(key) || isDeepStrictEqual(old, now)) continue;
    if (WORDS.has(key)) yield toChange('documentation', place, `${key} changed`, 'Only people read it.');
    else yield toChange('breaking', place, describe(key, old, now), why);
  }
}

export function describe(key: string, before: Json, after: Json): string {
  if (before === undefined) return `${key} ${show(after)} was added`;
  if (after === undefined) return `${key} ${show(before)} was removed`;
  if (!Array.isArray(before) || !Array.isArray(after)) return `${key} changed from ${show(before)} to ${show(after)}`;
  const { lost, gained } = compareLists(before, after);
  const parts = [];
  if (lost.length > 0) parts.push(`lost ${lost.map(show).join(', ')}`);
  if (gained.length > 0) parts.push(`gained ${gained.map(show).join(', ')}`);
  return `${key} ${parts.join(' and ')}`;
}

export function compareLists(before: Json[] = [], after: Json[] = []): { lost: Json[]; gained: Json[] } {
  const without = (list: Json[], other: Json[]) =>
    list.filter((item) => !other.some((same) => isDeepStrictEqual(item, same)));
  return { lost: without(before, after), gained: without(after, before) };
}

function show(value: Json): string {
  return typeof value === 'string' ? value : (stringify(value) as string);
}
