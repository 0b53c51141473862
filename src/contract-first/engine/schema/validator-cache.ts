/**
 * Gives recursive and large schemas their own validation functions. Equal schemas share one function, which is compiled
 * when it is first called. In one validation, a function checks each object once. Otherwise a schema that refers to
 * itself twice (in two members of `allOf`, in `if` and `then`, or in two alternatives) would check each level of
 * nesting twice as often as the level above it.
 */
import { _, type CodeKeywordDefinition, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { callRef } from 'ajv/dist/vocabularies/core/ref.js';
import { stringify } from 'lossless-json';
import { type Int64Map, int64sOf, withoutEmpty } from './int64-map.ts';
import type { Schema } from './json.ts';
import { type AtEnd, MAX_ERRORS } from './linear-keywords.ts';
import { targetOf } from './subschemas.ts';

/** A schema and its context in an outer schema. */
interface SchemaPart {
  schema: Schema;
  int64s: Int64Map;
  /** True if a valid value need not fit the schema, as in `anyOf`: its defaults are not filled in. */
  isTried: boolean;
}

/** Rewrites a schema for ajv, and compiles it. */
export interface Compiler {
  /** Rewrites a schema. Subschemas that get their own function are replaced by the result of `call`. */
  rewriteForAjv: (part: SchemaPart, call: (part: SchemaPart) => Schema) => Schema;
  compile: (prepared: Schema) => ValidateFunction;
}

/** The result of a function for one object: its errors and evaluated fields. */
interface Outcome {
  errors: ErrorObject[] | null;
  evaluated: Evaluated;
}

type Evaluated = NonNullable<ValidateFunction['evaluated']>;

interface SchemaFunction extends Partial<Outcome> {
  /** The function that ajv calls. Sets `errors` and `evaluated`, as ajv's own functions do. */
  (...args: Parameters<ValidateFunction>): boolean;
  part: SchemaPart;
  number: number;
  /** The functions that this one calls. Filled when the schema is rewritten. */
  calls: Set<SchemaFunction>;
  check: ValidateFunction | undefined;
}

export class ValidatorCache {
  readonly #compiler: Compiler;
  readonly #known: SchemaFunction[] = [];
  readonly #ofSchemas = { tried: new Map<Schema, OfMaps>(), sure: new Map<Schema, OfMaps>() };
  readonly #ofTexts = new Map<string, SchemaFunction>();
  /** The stack of functions to compile. */
  readonly #open: SchemaFunction[] = [];
  /**
   * Functions that have been rewritten, so that their calls are known, but that may wait for the functions that they
   * call.
   */
  readonly #entered = new Set<SchemaFunction>();
  /** All functions before this index of `#known` are compiled. */
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

  /** Returns the function of a schema in its context. The schema itself is not read. */
  of({ schema, int64s, isTried }: SchemaPart): SchemaFunction {
    const target = targetOf(schema);
    const own = target ? int64sOf(target) : int64s;
    return this.#at({ schema: target ?? schema, int64s: withoutEmpty(own), isTried });
  }

  /**
   * Compiles the function, but not the functions that it calls. Functions with equal rewritten schemas share the
   * result.
   * @throws Error if it cannot be compiled
   */
  compile(made: SchemaFunction, prepared?: Schema): ValidateFunction {
    made.check ??= this.#compile(made, prepared ?? this.#rewriteForAjv(made));
    return made.check;
  }

  /**
   * Compiles the function and all functions that it calls, directly or indirectly.
   * @throws Error if one of them cannot be compiled
   */
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

  /**
   * After an error, drops the compiled checks that call a function without one, directly or through others. Other
   * checks are kept.
   */
  #reset(): void {
    const isLost = ({ check, calls }: SchemaFunction) => check && [...calls].some((called) => !called.check);
    const lost = [...this.#entered].filter(isLost);
    for (const one of lost) one.check = undefined;
    if (lost.length > 0) this.#reset();
  }

  /**
   * Takes one step of compiling: either compiles a function, or puts the functions that it calls before it. Returns
   * false if all are compiled.
   */
  compileNext(): boolean {
    while (this.#known[this.#next]?.check) this.#next += 1;
    const next = this.#open.pop() ?? this.#known[this.#next];
    if (next) this.#step(next);
    return next !== undefined;
  }

  /**
   * Compiles a function after those that it calls. Calls of equal functions then contain the same number, so that their
   * callers are also recognized as equal.
   */
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
        // Copies the errors, because the caller adds its own errors to this array.
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

/**
 * Writes the schema as text, to compare it. It contains bigint only for numbers that a double cannot hold, and the text
 * keeps their digits.
 */
function writeSchema(prepared: Schema): string {
  try {
    return JSON.stringify(prepared);
  } catch {
    return stringify(prepared) as string;
  }
}
