/**
 * Finds new paths that take over requests of existing paths, as `/notes/mine` takes over a request of `/notes/{name}`.
 */
import { withoutNames } from '../../contract/read/normal-form.ts';
import { toDoubles } from '../../engine/contract/numbers.ts';
import { namesIn } from '../../engine/contract/path-names.ts';
import { buildToValue } from '../../engine/requests/text-coercion.ts';
import { buildChecks } from '../../engine/schema/checks.ts';
import { int64sOf } from '../../engine/schema/int64-map.ts';
import type { Schema } from '../../engine/schema/json.ts';
import { isList } from '../../engine/schema/value-types.ts';
import type { Comparable } from './normal.ts';

/**
 * True if the router would send a valid request of the old operation to the new path. The router prefers a path with
 * fixed text in a segment to a path with a parameter there.
 */
export function takesFrom(path: string, old: Comparable): boolean {
  const [own, others] = [path.split('/'), old.path.split('/')];
  const areAlike = own.length === others.length && own.every((part, at) => isAlike(part, others[at] as string, old));
  const first = own.findIndex((part, at) => withoutNames(part) !== withoutNames(others[at] as string));
  return areAlike && rankOf(own[first] as string) >= rankOf(others[first] as string);
}

/** Returns the rank of a segment: 0 for a parameter, 1 for a parameter next to text, 2 for a fixed text. */
const rankOf = (part: string) => (/^\{[^{}]*\}$/.test(part) ? 0 : part.includes('{') ? 1 : 2);

/**
 * True if there is a text that fits both a segment of the new path (`part`) and the same segment of the old path
 * (`other`).
 */
function isAlike(part: string, other: string, old: Comparable): boolean {
  if (rankOf(part) === 2) return rankOf(other) === 0 ? part !== '' && fits(part, other, old) : isMade(part, other);
  if (rankOf(other) === 2) return isMade(other, part);
  const [own, known] = [part, other].map((one) => [one.replace(/\{.*/, ''), one.replace(/.*\}/, '')]);
  const [[start, end], [before, after]] = [own, known] as [[string, string], [string, string]];
  const starts = start.startsWith(before) || before.startsWith(start);
  return starts && (end.endsWith(after) || after.endsWith(end));
}

/** True if a segment with parameters can have this text, for some values of its parameters. */
function isMade(text: string, part: string): boolean {
  const texts = part.split(/\{[^{}]*\}/).map((one) => one.replace(/\W/g, '\\$&'));
  return new RegExp(`^${texts.join('.+')}$`).test(text);
}

/** True if the text was a valid value of the parameter in this segment of the old path. */
function fits(text: string, part: string, { parameters }: Comparable): boolean {
  const schema = toDoubles(parameters[`path.${namesIn(part)[0]}`]?.schema ?? true);
  if (isList(schema)) return true;
  // Ignores the errors of a faulty schema. Every value then counts as valid.
  const buildCheck = buildChecks({ isJudged: true });
  const isValid = (one: Schema) => {
    const check = buildCheck(one, { name: part }, () => {});
    return (value: unknown) => check(value) === undefined;
  };
  return isValid(schema)(buildToValue(schema, int64sOf(schema).isInt64, isValid)(text));
}
