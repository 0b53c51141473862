/**
 * Reports schemas that no value fits: all values in `enum` break another keyword, or `required` contains a misspelt
 * name. Also reports defaults that do not fit their own schema.
 */
import type { BuildCheck } from '../../engine/schema/checks.ts';
import { type Keywords, keywordsOf, type ReportProblem, reportIn, type Schema } from '../../engine/schema/json.ts';
import { scopeOf, subschemasOf, targetOf, toInnerPointer } from '../../engine/schema/subschemas.ts';
import { patternsIn } from './keyword-subsets.ts';
import { isClosed } from './subsets.ts';

/** Keywords with subschemas that may reject all values on purpose. */
const CONDITIONS = ['not', 'if'];

export function reportImpossible(schema: Schema, name: string, buildCheck: BuildCheck, report: ReportProblem): void {
  const isMeant = (keyword: string) => !CONDITIONS.includes(keyword);
  visit(schema, [name, ''], isMeant, (own, location, pointer) => {
    const keywords = keywordsOf(own);
    const { enum: ofEnum, 'x-extensible-enum': known = [] } = keywords;
    const values = ofEnum ?? ('const' in keywords ? [keywords.const] : known);
    if (values.length === 0 || !isQuick(own)) return;
    const check = buildCheck(own, { name: location, at: '/it' }, () => {});
    const problems = values.map((value) => check(value));
    if (problems.every(Boolean))
      report(`${location}: allows nothing, not even ${values[0]}: ${problems[0]?.join('; ')}`, pointer);
  });
}

/** Matches a pattern without groups and with at most one repetition. */
const QUICK = /^[^(*+?{]*(?:[*+?{][^(*+?{]*)?$/;

/** True if all patterns of a schema are quick, so that values can be tried. A slow pattern could run for years. */
export const isQuick = (schema: Schema | undefined): boolean => patternsIn(schema).every((one) => QUICK.test(one));

/** Keywords with subschemas that may contain a default for the server to fill in. */
export const FILLED = ['properties', 'items', 'allOf', 'additionalProperties'];

/** Reports a default that does not fit its own schema: each request that omits the value would be answered with 400. */
export function reportUnfitDefaults(schema: Schema, name: string, buildCheck: BuildCheck, report: ReportProblem): void {
  const isMeant = (keyword: string) => FILLED.includes(keyword);
  visit(schema, [name, ''], isMeant, (own, location, pointer) => {
    const { default: value } = keywordsOf(own);
    if (value === undefined || !isQuick(own)) return;
    const check = buildCheck(own, { name: location, at: '/it' }, () => {});
    const [problem] = check(value) ?? [];
    const isRounded = typeof value === 'bigint' && !check(Number(value));
    const words = isRounded ? `${value} is too large to be kept exactly` : `does not fit its own schema: ${problem}`;
    if (problem) report(`${location}: default ${words}`, `${pointer}/default`);
  });
}

/** Calls `judge` once for a schema, and once for each schema inside it under keywords that `isMeant` accepts. */
function visit(
  schema: Schema,
  [name, pointer]: [name: string, pointer: string],
  isMeant: (keyword: string) => boolean,
  judge: (schema: Schema, name: string, pointer: string) => void,
  seen = new Set<Schema>(),
): void {
  if (seen.has(schema)) return;
  seen.add(schema);
  judge(schema, name, pointer);
  for (const inner of subschemasOf(schema)) {
    const location = inner.keyword === 'properties' ? `${name}.${inner.name}` : name;
    const at = pointer + toInnerPointer(inner);
    if (isMeant(inner.keyword)) visit(inner.subschema, [location, at], isMeant, judge, seen);
  }
}

/**
 * Reports required fields that no subschema describes. It is not an error if one subschema requires a field and another
 * one describes it, as `anyOf: [{ required: [mail] }, { required: [phone] }]` next to `properties`.
 */
export function reportUnmetRequired(
  schema: Schema,
  name: string,
  report: ReportProblem,
  seen = new Set<Schema>(),
): void {
  if (seen.has(schema)) return;
  seen.add(schema);
  const parts = partsOf(schema, isOfValue);
  for (const field of unnamedIn(parts, parts)) report(`${name}: ${unnamed(field)}`);
  for (const part of parts) {
    for (const inner of subschemasOf(part)) {
      const scope = scopeOf(inner.keyword);
      const inside = `${name}.${scope === 'field' ? inner.name : '*'}`;
      if (scope !== 'value')
        reportUnmetRequired(inner.subschema, inside, reportIn(report, toInnerPointer(inner)), seen);
    }
  }
}

/**
 * Reports a schema of a reply that requires a field without describing it. No handler can return such an object,
 * because the generated type of the reply lacks the field.
 */
export function reportUnsendable(schema: Schema, name: string, report: ReportProblem, seen = new Set<Schema>()): void {
  if (seen.has(schema)) return;
  seen.add(schema);
  const [sure, all] = [partsOf(schema, (keyword) => keyword === 'allOf'), partsOf(schema, isOfValue)];
  const isObject = isAlways('object', sure);
  const unsent = !isObject || mayHaveMore(all) ? [] : unnamedIn(sure, all);
  for (const field of unsent) report(`${name}: ${unnamed(field)}`);
  const closed = isObject ? sure.filter(isClosed) : [];
  for (const field of closed.flatMap((part) => unnamedIn(sure, [part])).filter((one) => !unsent.includes(one)))
    report(`${name}: requires ${field}, but a subschema with additionalProperties: false does not declare it`);
  const required = new Set(isObject ? sure.flatMap(({ required = [] }) => required) : []);
  const hasItems = isAlways('array', sure) && sure.some(({ minItems = 0 }) => minItems > 0);
  for (const part of sure) {
    for (const inner of subschemasOf(part)) {
      const isField = inner.keyword === 'properties' && required.has(inner.name);
      const isItem = inner.keyword === 'items' && hasItems;
      const inside = `${name}.${isField ? inner.name : '*'}`;
      if (isField || isItem) reportUnsendable(inner.subschema, inside, reportIn(report, toInnerPointer(inner)), seen);
    }
  }
}

const isAlways = (type: string, parts: Keywords[]) =>
  parts.some((part) => [part.type].flat().every((one) => one === type));

const unnamed = (field: string) => `requires ${field}, but no properties declare it`;

function unnamedIn(parts: Keywords[], all: Keywords[]): string[] {
  const known = new Set(all.flatMap(({ properties = {} }) => Object.keys(properties)));
  return [...new Set(parts.flatMap(({ required = [] }) => required))].filter((field) => !known.has(field));
}

/** True if the generated TypeScript type of a reply allows fields that the schema does not name. */
function mayHaveMore(parts: Keywords[]): boolean {
  const hasOthers = parts.some((part) => EXTRA_FIELD_KEYWORDS.some((keyword) => part[keyword]));
  const isSilent = parts.every(({ properties = {} }) => Object.keys(properties).length === 0);
  return hasOthers || (isSilent && parts.every(({ additionalProperties }) => additionalProperties !== false));
}

const EXTRA_FIELD_KEYWORDS = ['additionalProperties', 'patternProperties', 'unevaluatedProperties'];

const isOfValue = (keyword: string) => scopeOf(keyword) === 'value';

/**
 * Returns the schema and all schemas under the keywords that `isPart` accepts, such as `allOf`, each once. All of them
 * describe the same value.
 */
export function partsOf(schema: Schema, isPart: (keyword: string) => boolean, seen = new Set<Schema>()): Keywords[] {
  if (typeof schema === 'boolean' || seen.has(schema)) return [];
  seen.add(schema);
  return [
    schema,
    ...partsOf(targetOf(schema) ?? true, isPart, seen),
    ...subschemasOf(schema).flatMap(({ subschema, keyword }) =>
      isPart(keyword) ? partsOf(subschema, isPart, seen) : [],
    ),
  ];
}
