/** Makes checks of schemas. Everything that is checked against a schema is checked here. */
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { toPointerOf } from '../../json/pointer.ts';
import type { Problem } from '../errors/problem.ts';
import { buildAjv, type SchemaSource, type ValidationRun } from './ajv.ts';
import { type Int64Map, int64sOf, int64sOfField, int64sUnder } from './int64-map.ts';
import type { ReportProblem, Schema } from './json.ts';
import { type AtEnd, CanonicalKeys } from './linear-keywords.ts';
import { buildRewriteForAjv } from './prepared.ts';
import { toProblems } from './problems.ts';
import { subschemasOf, toInnerPointer } from './subschemas.ts';
import { type Compiler, ValidatorCache } from './validator-cache.ts';

export interface CheckOptions {
  /** The name of the value in problems of the schema: with `request`, a fault is at `request.body.name`. */
  name: string;
  /** The JSON Pointer of the value, for problems of values: with `/body`, its `name` is at `body.name`; by default at `name`. */
  at?: string;
  /** Fills in defaults: in requests, never in replies. */
  fillsDefaults?: boolean;
  /** The 64-bit integers of the value, if another schema also describes it. */
  int64s?: Int64Map;
}

/** Returns the problems of a value, or undefined if it fits. Takes linear time. */
export type Check = (value: unknown) => Problem[] | undefined;

/** Makes a check. A schema that does not compile is an error of one line. */
export type BuildCheck = (schema: Schema, options: CheckOptions, report: ReportProblem) => Check;

export interface Checks extends BuildCheck {
  /** Compiles a part of a check that was not called yet, in a few milliseconds; false if nothing is left. */
  compileNext: () => boolean;
}

/** Makes checks for the schemas of one document. In the server, they are compiled part by part when first called. */
export function buildChecks(source: SchemaSource = {}): Checks {
  const withDefaults = buildCompile(source, true);
  const without = buildCompile(source, false);

  function buildCheck(schema: Schema, options: CheckOptions, report: ReportProblem): Check {
    const { expect, compile, run } = options.fillsDefaults ? withDefaults : without;
    let made = source.isJudged ? compile(schema, options, report) : expect(schema, options);
    return (value) => {
      made ??= compile(schema, options, throwProblem);
      const problems = made(value) ? undefined : toProblems(made.errors as ErrorObject[], options.at, value);
      while (run.atEnd.length > 0) run.atEnd.pop()?.();
      return problems;
    };
  }

  const compileNext = () => [withDefaults, without].some(({ run }) => run.functions.compileNext());
  return Object.assign(buildCheck, { compileNext });
}

/** Throws a problem of a schema, because a check that accepts everything would be worse. */
export const throwProblem: ReportProblem = (problem) => {
  throw new Error(problem);
};

type Compile = (schema: Schema, int64s: Int64Map) => ValidateFunction;

function buildCompile(source: SchemaSource, fillsDefaults: boolean) {
  let made: Ajv2020 | undefined;
  const atEnd: AtEnd = [];
  const compiler: Compiler = {
    rewriteForAjv: buildRewriteForAjv({ fillsDefaults, isStrict: source.isStrict }),
    compile: (prepared) => {
      made ??= buildAjv(source, fillsDefaults, run);
      return made.compile(prepared);
    },
  };
  const functions = new ValidatorCache(compiler, atEnd);
  const run: ValidationRun = { functions, keys: new CanonicalKeys(atEnd), atEnd };
  const functionOf = (schema: Schema, int64s: Int64Map) => functions.of({ schema, int64s, isTried: false });
  const compileOwn: Compile = (schema, int64s) => {
    const own = functionOf(schema, int64s);
    return source.isJudged ? functions.compileWhole(own) : functions.compile(own);
  };

  function compile(
    schema: Schema,
    { name, int64s = int64sOf(schema) }: CheckOptions,
    report: ReportProblem,
  ): ValidateFunction {
    try {
      return compileOwn(schema, int64s);
    } catch (error) {
      // Removes ajv's own words for the place.
      const message = (error as Error).message.replace(/ in schema at path .*|(?<= for: )data\d*\./, '');
      const { path, pointer } = findFault(schema, int64s, compileOwn);
      report(`${name}${path}: ${message}`, pointer);
      return compileOwn(true, int64s);
    }
  }
  /** Compiles nothing yet. */
  function expect(schema: Schema, { int64s = int64sOf(schema) }: CheckOptions): undefined {
    functionOf(schema, int64s);
  }
  return { expect, compile, run };
}

/** The path and the pointer to the innermost schema that cannot be compiled by itself, and to the keyword in it. */
function findFault(schema: Schema, int64s: Int64Map, compile: Compile): { path: string; pointer: string } {
  for (const { subschema, keyword, name } of subschemasOf(schema)) {
    const inside = int64sUnder(int64s, keyword, name);
    if (isSound(subschema, inside, compile)) continue;
    const step = keyword === 'properties' ? [name] : [keyword, name].filter(Boolean);
    const { path, pointer } = findFault(subschema, inside, compile);
    return { path: `.${step.join('.')}${path}`, pointer: toInnerPointer({ keyword, name }) + pointer };
  }
  const faulty = Object.entries(schema).filter(([key, value]) => !isSound({ [key]: value }, int64s, compile));
  return { path: '', pointer: toPointerOf(...faulty.slice(0, 1).map(([key]) => key)) };
}

/** Compiles the schema as a field: at the root, a default is meaningless, and an error. */
function isSound(schema: Schema, int64s: Int64Map, compile: Compile): boolean {
  try {
    compile({ properties: { value: schema } }, int64sOfField('value', int64s));
    return true;
  } catch {
    return false;
  }
}
