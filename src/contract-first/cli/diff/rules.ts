/**
 * Defines the changes of a contract, their effects on clients, and the functions that make rules. For each key of a
 * node, a rule decides the effect of a change of its value.
 */
import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'lossless-json';
import { isOurs } from '../../contract/read/keywords.ts';
import { DOCUMENTATION_KEYS } from './expand.ts';

export interface ContractChange {
  /** The location of the changed node, in the form that the server's messages use: `createBook body.name`. */
  location: string;
  what: string;
  effect: Effect;
}

export interface Effect {
  verdict: 'breaking' | 'compatible' | 'documentation';
  why: string;
}

const breaking = (why: string): Effect => ({ verdict: 'breaking', why });

export const FAILS_REQUESTS = breaking('Requests that were fine may be refused now.');
export const UNEXPECTED = breaking('Clients may get something else than they expect.');
export const RETYPED = breaking('Generated clients take their types from it.');
export const MISSING = breaking('Clients that use it find nothing.');
export const MOVED = breaking('Requests that leave it out mean something else now.');
export const TAKEN = breaking('Requests that were fine mean something else now.');
export const RENAMED = breaking('Generated clients take their names from it.');
export const SOONER = breaking('Clients have less time than they were promised, or change in vain.');
export const UNKNOWN = breaking('No rule judges this, so it counts as breaking.');
export const FINE: Effect = { verdict: 'compatible', why: 'Clients work as before.' };
export const FOR_READERS: Effect = { verdict: 'documentation', why: 'Only people read it.' };

/** Pairs the old and the new value of each name. A value is undefined if its version does not contain the name. */
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

export function describeChange(key: string, before: unknown, after: unknown): string {
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

export type Direction = 'request' | 'response';
export type ContractChanges = Generator<ContractChange, void>;

/** A node of the contract that may contain the keyword `required`, or a schema that is `true` or `false`. */
type Node = boolean | { required?: unknown };

/** Compares the old and the new value of a key. A rule is called only if the values differ. */
export type CompareRule<Value> = (
  before: Value | undefined,
  after: Value | undefined,
  location: string,
  direction: Direction,
  key: string,
) => ContractChanges;

/** The rules for a node, by key. */
export type Rules = Record<string, CompareRule<never>>;

/**
 * How a change affects the set of allowed values: `fewer` or `more` values are allowed, or `other` if some are added
 * and some are removed. Undefined if the set stays the same.
 */
export type ValuesRelation = 'fewer' | 'more' | 'other' | undefined;

const EFFECTS = {
  request: { fewer: FAILS_REQUESTS, more: FINE, other: FAILS_REQUESTS },
  response: { fewer: FINE, more: UNEXPECTED, other: UNEXPECTED },
};

export function effectOf(relation: NonNullable<ValuesRelation>, direction: Direction): Effect {
  return EFFECTS[direction][relation];
}

/** True for an `x-` key that the server ignores, because it is for other tools. */
const isOfOthers = (key: string) => key.startsWith('x-') && !isOurs(key);

/**
 * Makes a rule that compares a node key by key, each by its own rule. A change of a key without a rule gets the effect
 * `otherwise`. By default this effect is breaking, so that a change of an unknown key is not overlooked.
 */
export function byKey(rules: Rules, otherwise: Effect = UNKNOWN): CompareRule<Record<string, unknown>> {
  return function* (before, after, location, direction) {
    for (const [key, old, now] of pairs(before, after)) {
      if (isDeepStrictEqual(old, now)) continue;
      const rule = Object.hasOwn(rules, key) ? (rules[key] as CompareRule<unknown>) : undefined;
      if (rule) yield* rule(old, now, location, direction, key);
      else if (DOCUMENTATION_KEYS.has(key) || isOfOthers(key))
        yield { location, what: `${key} changed`, effect: FOR_READERS };
      else yield { location, what: describeChange(key, old, now), effect: otherwise };
    }
  };
}

/**
 * Makes a rule that judges a value as a whole. `judge` returns undefined if the old and the new value mean the same.
 */
export function value<Value>(
  judge: (before: Value | undefined, after: Value | undefined, direction: Direction) => Effect | undefined,
): CompareRule<Value> {
  return function* (before, after, location, direction, key) {
    const effect = judge(before, after, direction);
    if (effect) yield { location, what: describeChange(key, before, after), effect };
  };
}

/** Makes a rule for a keyword that limits the allowed values. */
export function keyword<Value>(
  relate: (before: Value | undefined, after: Value | undefined, direction: Direction) => ValuesRelation,
): CompareRule<Value> {
  return value((before, after, direction) => {
    const relation = relate(before, after, direction);
    return relation && effectOf(relation, direction);
  });
}

/** Makes a rule for a list that may gain items but must not lose any. `loss` is the effect of a lost item. */
export function growing(loss: Effect): CompareRule<unknown[]> {
  return value((before, after) => {
    const { lost, gained } = compareLists(before, after);
    return lost.length > 0 ? loss : gained.length > 0 ? FINE : undefined;
  });
}

export function relateSets(before: unknown[], after: unknown[]): ValuesRelation {
  const { lost, gained } = compareLists(before, after);
  if (lost.length > 0) return gained.length > 0 ? 'other' : 'fewer';
  return gained.length > 0 ? 'more' : undefined;
}

export const required = keyword<boolean>((before = false, after = false) => {
  return before === after ? undefined : after ? 'fewer' : 'more';
});

export const ignored: CompareRule<unknown> = function* () {};

/** Makes a rule that compares the entries of a map by name. `added` returns the change for a new entry. */
export function compareByName<Part extends Node>(
  toLocation: (location: string, name: string) => string,
  rule: CompareRule<Part>,
  added: (part: Part, direction: Direction) => Omit<ContractChange, 'location'> = toAddition,
): CompareRule<Record<string, Part>> {
  return function* (before, after, location, direction, key) {
    for (const [name, old, now] of pairs(before, after)) {
      const there = toLocation(location, name);
      if (old !== undefined && now !== undefined) yield* rule(old, now, there, direction, key);
      else if (now !== undefined) yield { location: there, ...added(now, direction) };
      else yield { location: there, what: 'was removed', effect: direction === 'request' ? FAILS_REQUESTS : MISSING };
    }
  };
}

/**
 * Returns the change for a new entry. The change is compatible in a reply, and in a request if clients may omit the
 * entry.
 */
export function toAddition(node: Node, direction: Direction): Omit<ContractChange, 'location'> {
  if (direction === 'response') return { what: 'was added', effect: FINE };
  return typeof node === 'object' && node.required
    ? { what: 'was added, and is required', effect: FAILS_REQUESTS }
    : { what: 'was added, and is optional', effect: FINE };
}
