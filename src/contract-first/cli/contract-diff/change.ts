/** A change of the contract: where it is, what it is, and what it does to clients. */
import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'lossless-json';

export interface Change {
  /** As messages of the service name it: `createBook body.name`. */
  place: string;
  what: string;
  effect: Effect;
}

export interface Effect {
  verdict: 'breaking' | 'compatible' | 'documentation';
  why: string;
}

const breaking = (why: string): Effect => ({ verdict: 'breaking', why });

export const REFUSED = breaking('Requests that were fine may be refused now.');
export const UNEXPECTED = breaking('Clients may get something else than they expect.');
export const RETYPED = breaking('Generated clients take their types from it.');
export const MISSING = breaking('Clients that use it find nothing.');
export const MOVED = breaking('Requests that leave it out mean something else now.');
export const TAKEN = breaking('Requests that were fine mean something else now.');
export const RENAMED = breaking('Generated clients take their names from it.');
export const SOONER = breaking('Clients have less time than they were promised, or change in vain.');
export const UNKNOWN = breaking('No rule judges this, so it counts as breaking.');
export const FINE: Effect = { verdict: 'compatible', why: 'Clients work as before.' };
export const READ: Effect = { verdict: 'documentation', why: 'Only people read it.' };

/** The parts by their names; undefined in the version that has none of this name. */
export function pairs<Part>(
  before: Record<string, Part> = {},
  after: Record<string, Part> = {},
): [name: string, before: Part | undefined, after: Part | undefined][] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const of = (parts: Record<string, Part>, name: string) => (Object.hasOwn(parts, name) ? parts[name] : undefined);
  return [...names].map((name) => [name, of(before, name), of(after, name)]);
}

export function compareLists<Item>(before: Item[] = [], after: Item[] = []): { lost: Item[]; gained: Item[] } {
  const without = (list: Item[], other: Item[]) =>
    list.filter((item) => !other.some((same) => isDeepStrictEqual(item, same)));
  return { lost: without(before, after), gained: without(after, before) };
}

export function describe(key: string, before: unknown, after: unknown): string {
  if (after === true) return `became ${key}`;
  if (before === true) return `is no longer ${key}`;
  if (before === undefined) return `${key} ${show(after)} was added`;
  if (after === undefined) return `${key} ${show(before)} was removed`;
  if (!Array.isArray(before) || !Array.isArray(after)) return `${key} changed from ${show(before)} to ${show(after)}`;
  const { lost, gained } = compareLists(before, after);
  const parts = [lost.length > 0 && `lost ${lost.map(show).join(', ')}`];
  parts.push(gained.length > 0 && `gained ${gained.map(show).join(', ')}`);
  return `${key} ${parts.filter(Boolean).join(' and ')}`;
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : (stringify(value) as string);
}
