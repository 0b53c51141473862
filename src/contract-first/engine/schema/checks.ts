/** Builds checks from schemas. Requests, replies and stored records are all checked by these functions. */
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
  /**
   * The name of the schema in problems of the schema itself. With the name `request`, a problem is reported at
   * `request.body.name`.
   */
  name: string;
  /**
   * A JSON Pointer to put in front of the pointers of problems in a value. With `/body`, a problem of the field `name`
   * is reported at `body.name`. Without it, the problem is reported at `name`.
   */
  at?: string;
  /** If true, the check writes the schema's defaults into the value. Used for requests, never for replies. */
  fillsDefaults?: boolean;
  /**
   * The map of the 64-bit integers in the value. By default, it is made from the schema. Pass a map if another schema
   * also describes the value.
   */
  int64s?: Int64Map;
}

/** Returns the problems of a value, or undefined if the value fits the schema. A check takes linear time. */
export type Check = (value: unknown) => Problem[] | undefined;

/** Builds a check. If the schema does not compile, the error is reported in one line. */
export type BuildCheck = (schema: Schema, options: CheckOptions, report: ReportProblem) => Check;

export interface Checks extends BuildCheck {
  /**
   * Compiles one check ahead of its first call. This takes a few milliseconds. Returns false if every check is already
   * compiled.
   */
  compileNext: () => boolean;
}

/**
 * Builds the checks for the schemas of one document. In the server, a schema is only compiled when its check is first
 * called.
 */
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

/**
 * Reports a problem by throwing it. Without this error, a schema that does not compile would be replaced by a check
 * that accepts everything.
 */
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
      // Removes ajv's own text about the position of the fault, because `path` already contains the position.
      const message = (error as Error).message.replace(/ in schema at path .*|(?<= for: )data\d*\./, '');
      const { path, pointer } = findFault(schema, int64s, compileOwn);
      report(`${name}${path}: ${message}`, pointer);
      return compileOwn(true, int64s);
    }
  }
  /** Adds the function of a schema to those that will be compiled, without compiling it now. */
  function expect(schema: Schema, { int64s = int64sOf(schema) }: CheckOptions): undefined {
    functionOf(schema, int64s);
  }
  return { expect, compile, run };
}

/**
 * Finds the innermost schema that does not compile by itself. Returns the path of this schema, and the JSON Pointer to
 * its faulty keyword.
 */
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

/** True if the schema compiles as the schema of a field. At the root, a default would be an error. */
function isSound(schema: Schema, int64s: Int64Map, compile: Compile): boolean {
  try {
    compile({ properties: { value: schema } }, int64sOfField('value', int64s));
    return true;
  } catch {
    return false;
  }
}
