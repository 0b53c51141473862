/**
 * Gives recursive and large schemas their own validation functions. Equal schemas share one, which is compiled when it is first called.
 * In one validation, a function checks each object once. Otherwise a schema that refers to itself in two ways (two parts of `allOf`, `if`
 * and `then`, two alternatives) would check each level of nesting twice as often as the level above.
 */
import { _, type CodeKeywordDefinition, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { callRef } from 'ajv/dist/vocabularies/core/ref.js';
import { stringify } from 'lossless-json';
import { type Int64Map, int64sOf, withoutEmpty } from './int64-map.ts';
import type { Schema } from './json.ts';
import { type AtEnd, MAX_ERRORS } from './linear-keywords.ts';
import { targetOf } from './subschemas.ts';

/** A schema and its position in another one. */
interface SchemaPart {
  schema: Schema;
  int64s: Int64Map;
  /** Whether the value need not fit it, as in `anyOf`: then no defaults are filled in. */
  isTried: boolean;
}

/** Rewrites a schema for ajv, and compiles it. */
export interface Compiler {
  /** Replaces each part with its own function by the result of `call`. */
  rewriteForAjv: (part: SchemaPart, call: (part: SchemaPart) => Schema) => Schema;
  compile: (prepared: Schema) => ValidateFunction;
}

/** The errors of an object in this validation, and its evaluated fields. */
interface Outcome {
  errors: ErrorObject[] | null;
  evaluated: Evaluated;
}

type Evaluated = NonNullable<ValidateFunction['evaluated']>;

interface SchemaFunction extends Partial<Outcome> {
  /** Called by ajv. Sets `errors` and `evaluated`, as ajv's own functions do. */
  (...args: Parameters<ValidateFunction>): boolean;
  part: SchemaPart;
  number: number;
  /** Known when it is prepared. */
  calls: Set<SchemaFunction>;
  check: ValidateFunction | undefined;
}

export class ValidatorCache {
  readonly #compiler: Compiler;
  readonly #known: SchemaFunction[] = [];
  readonly #ofSchemas = { tried: new Map<Schema, OfMaps>(), sure: new Map<Schema, OfMaps>() };
  readonly #ofTexts = new Map<string, SchemaFunction>();
  /** Functions to compile next, the last one first. */
  readonly #open: SchemaFunction[] = [];
  /** Functions with known calls, which are compiled before them. */
  readonly #entered = new Set<SchemaFunction>();
  /** The number of compiled functions, from the first on. */
  #next = 0;
  readonly #atEnd: AtEnd;

  constructor(compiler: Compiler, atEnd: AtEnd) {
    this.#compiler = compiler;
    this.#atEnd = atEnd;
  }

  /** `function: 3` calls the function with this number. */
  readonly keyword: CodeKeywordDefinition = {
    keyword: 'function',
    schemaType: 'number',
    code: (cxt) => callRef(cxt, _`${cxt.gen.scopeValue('wrapper', { ref: this.#known[cxt.schema] })}`),
  };

  /** The function of a schema in its place, which is not looked into. */
  of({ schema, int64s, isTried }: SchemaPart): SchemaFunction {
    const target = targetOf(schema);
    const own = target ? int64sOf(target) : int64s;
    return this.#at({ schema: target ?? schema, int64s: withoutEmpty(own), isTried });
  }

  /** Compiles the function, but not those that it calls. Equal ones share the result. @throws Error if it cannot be compiled */
  compile(made: SchemaFunction, prepared?: Schema): ValidateFunction {
    made.check ??= this.#compile(made, prepared ?? this.#rewriteForAjv(made));
    return made.check;
  }

  /** Compiles the function and all functions that it calls. @throws Error if one of them cannot be compiled */
  compileWhole(made: SchemaFunction): ValidateFunction {
    this.#open.push(made);
    try {
      for (let next = this.#open.pop(); next; next = this.#open.pop()) this.#step(next);
    } catch (error) {
      this.#open.length = 0;
      this.#reset();
      throw error;
    } finally {
      this.#entered.clear();
    }
    return this.compile(made);
  }

  /** Forgets the checks that would call, on whatever way, a function without one. The others are kept. */
  #reset(): void {
    const isLost = ({ check, calls }: SchemaFunction) => check && [...calls].some((called) => !called.check);
    const lost = [...this.#entered].filter(isLost);
    for (const one of lost) one.check = undefined;
    if (lost.length > 0) this.#reset();
  }

  /** Compiles a function that was not called yet, or looks into it; false if all were called. */
  compileNext(): boolean {
    while (this.#known[this.#next]?.check) this.#next += 1;
    const next = this.#open.pop() ?? this.#known[this.#next];
    if (next) this.#step(next);
    return next !== undefined;
  }

  /** Compiles a function after the functions that it calls: equal ones then share a number, so that equal callers are also found. */
  #step(next: SchemaFunction): void {
    if (next.check) return;
    const prepared = this.#rewriteForAjv(next);
    const isEntered = this.#entered.has(next);
    this.#entered.add(next);
    const inner = [...next.calls].filter((called) => !called.check && !this.#entered.has(called));
    if (isEntered || inner.length === 0) this.compile(next, prepared);
    else this.#open.push(next, ...inner);
  }

  #compile(made: SchemaFunction, prepared: Schema): ValidateFunction {
    const text = writeSchema(prepared);
    const equal = this.#ofTexts.get(text) ?? made;
    const check = equal.check ?? this.#compiler.compile(prepared);
    this.#ofTexts.set(text, equal);
    this.#known[made.number] = equal;
    return check;
  }

  #at(part: SchemaPart): SchemaFunction {
    const { schema, int64s, isTried } = part;
    const ofSchemas = this.#ofSchemas[isTried ? 'tried' : 'sure'];
    const ofMaps: OfMaps = ofSchemas.get(schema) ?? new Map();
    ofSchemas.set(schema, ofMaps);
    const made = ofMaps.get(int64s) ?? this.#add(part);
    ofMaps.set(int64s, made);
    return made;
  }

  #rewriteForAjv(made: SchemaFunction): Schema {
    return this.#compiler.rewriteForAjv(made.part, (part) => {
      const called = this.#known[this.of(part).number] as SchemaFunction;
      made.calls.add(called);
      return { function: called.number };
    });
  }

  #add(part: SchemaPart): SchemaFunction {
    const outcomes = new Map<unknown, Outcome>();
    const run = (...args: Parameters<ValidateFunction>): Outcome => {
      const check = this.compile(made);
      Reflect.apply(check, undefined, args);
      const { errors, evaluated } = check;
      const outcome = { errors: errors?.slice(0, MAX_ERRORS) ?? null, evaluated: { ...(evaluated as Evaluated) } };
      if (typeof args[0] !== 'object') return outcome;
      if (outcomes.size === 0) this.#atEnd.push(() => outcomes.clear());
      outcomes.set(args[0], outcome);
      return outcome;
    };
    const made: SchemaFunction = Object.assign(
      (...args: Parameters<ValidateFunction>): boolean => {
        const { errors, evaluated } = outcomes.get(args[0]) ?? run(...args);
        // A copy: the caller adds its own errors to it.
        made.errors = errors?.slice() ?? null;
        made.evaluated = evaluated;
        return !errors;
      },
      { part, number: this.#known.length, calls: new Set<SchemaFunction>(), check: undefined },
    );
    this.#known.push(made);
    return made;
  }
}

type OfMaps = Map<Int64Map, SchemaFunction>;

/** The schema as text. Only numbers that no double can hold are bigint here, so their digits distinguish them. */
function writeSchema(prepared: Schema): string {
  try {
    return JSON.stringify(prepared);
  } catch {
    return stringify(prepared) as string;
  }
}
