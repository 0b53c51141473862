/** Makes checks of schemas: the one way to know whether a value fits. */
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { Problem } from '../problem.ts';
import { buildAjv, type SchemaSource } from './ajv.ts';
import { CanonicalKeys } from './equality.ts';
import { Functions } from './functions.ts';
import { findInt64s, type Int64Map, int64sOfField, int64sUnder } from './int64-map.ts';
import type { Refuse, Schema } from './json.ts';
import { buildPrepare } from './prepared.ts';
import { toProblems } from './problems.ts';
import { subschemasOf } from './subschemas.ts';

export interface CheckOptions {
  /** The value's name in problems of the schema: `request` has its fault at `request.body.name`. */
  name: string;
  /** Where the value stands, in problems of values, as a JSON Pointer: with `/body`, its `name` is at `body.name`; by default at `name`. */
  at?: string;
  /** Fills in what a value leaves out: in a request, never in a reply. */
  fillsDefaults?: boolean;
  /** Where its 64-bit integers are, if another schema has a say in that. */
  int64s?: Int64Map;
}

/** What is wrong with a value, each in words with its place; undefined where it fits. It takes as long as the value is large. */
export type Check = (value: unknown) => Problem[] | undefined;

/** A schema that does not compile is refused in one line. */
export type BuildCheck = (schema: Schema, options: CheckOptions, refuse: Refuse) => Check;

export interface Checks extends BuildCheck {
  /** Compiles a part of one that was not called yet, in a few milliseconds; false where nothing is left. */
  compileNext: () => boolean;
}

/** For the schemas of one document. Those of a checked document are compiled when they are first called, part by part. */
export function buildChecks(source: SchemaSource): Checks {
  const withDefaults = buildCompile(source, true);
  const without = buildCompile(source, false);
  const waiting: (() => unknown)[] = [];

  function buildCheck(schema: Schema, options: CheckOptions, refuse: Refuse): Check {
    const { compile, run } = options.fillsDefaults ? withDefaults : without;
    let made: ValidateFunction | undefined;
    const make = () => {
      made ??= compile(schema, options, source.isChecked ? refuseNow : refuse);
      return made;
    };
    if (source.isChecked) waiting.push(make);
    else make();
    return (value) => {
      const validate = made ?? make();
      const problems = validate(value) ? undefined : toProblems(validate.errors as ErrorObject[], options.at, value);
      run.functions.forget();
      run.keys.forget();
      return problems;
    };
  }

  function compileNext(): boolean {
    const next = waiting.shift();
    next?.();
    return next !== undefined || [withDefaults, without].some(({ run }) => run.functions.compileNext());
  }
  return Object.assign(buildCheck, { compileNext });
}

/** A check that took everything would be worse. */
const refuseNow: Refuse = (problem) => {
  throw new Error(problem);
};

type Compile = (schema: Schema, int64s: Int64Map) => ValidateFunction;

function buildCompile(source: SchemaSource, fillsDefaults: boolean) {
  let made: Ajv2020 | undefined;
  const functions = new Functions({
    prepare: buildPrepare({ fillsDefaults, isStrict: source.isStrict }),
    compile: (prepared) => {
      made ??= buildAjv(source, fillsDefaults, run);
      return made.compile(prepared);
    },
  });
  const run = { functions, keys: new CanonicalKeys() };
  const compileOwn: Compile = (schema, int64s) => {
    const own = functions.of({ schema, int64s, isTried: false });
    return source.isChecked ? functions.compile(own) : functions.compileWhole(own);
  };

  function compile(
    schema: Schema,
    { name, int64s = int64sOf(schema) }: CheckOptions,
    refuse: Refuse,
  ): ValidateFunction {
    try {
      return compileOwn(schema, int64s);
    } catch (error) {
      // Without ajv's own words for the place.
      const message = (error as Error).message.replace(/ in schema at path .*|(?<= for: )data\d*\./, '');
      refuse(`${name}${findFault(schema, int64s, compileOwn)}: ${message}`);
      return compileOwn(true, int64s);
    }
  }
  return { compile, run };
}

/** What is amiss with them was refused before. */
const int64sOf = (schema: Schema): Int64Map => findInt64s(schema, '', () => {});

/** The place of the innermost schema that cannot be compiled by itself. */
function findFault(schema: Schema, int64s: Int64Map, compile: Compile): string {
  for (const { subschema, keyword, name } of subschemasOf(schema)) {
    const inside = int64sUnder(int64s, keyword, name);
    if (isSound(subschema, inside, compile)) continue;
    const step = keyword === 'properties' ? [name] : [keyword, name].filter(Boolean);
    return `.${step.join('.')}${findFault(subschema, inside, compile)}`;
  }
  return '';
}

/** Not as the root, where a default means nothing and is refused. */
function isSound(schema: Schema, int64s: Int64Map, compile: Compile): boolean {
  try {
    compile({ properties: { value: schema } }, int64sOfField('value', int64s));
    return true;
  } catch {
    return false;
  }
}
