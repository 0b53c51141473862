/**
 * Gives recursive and large schemas their own validation functions. Equal schemas share a function, and a function is
 * only compiled when it is first called. During one validation, each function checks an object only once. Otherwise,
 * with a schema that refers to itself twice (in two members of `allOf`, in `if` and `then`, or in two alternatives),
 * the number of checks would double at each level of nesting.
 */
import { _, type CodeKeywordDefinition, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { callRef } from 'ajv/dist/vocabularies/core/ref.js';
import { stringify } from 'lossless-json';
import { type Int64Map, int64sOf, withoutEmpty } from './int64-map.ts';
import type { Schema } from './json.ts';
import { type AtEnd, MAX_ERRORS } from './linear-keywords.ts';
import { targetOf } from './subschemas.ts';

/** A schema that gets its own function, with the context that it has in the outer schema. */
interface SchemaPart {
  schema: Schema;
  int64s: Int64Map;
  /** True if a valid value may break this schema, as in `anyOf`. Defaults of such a schema are not filled in. */
  isTried: boolean;
}

/** Rewrites a schema for ajv, and compiles it. */
export interface Compiler {
  /** Rewrites a schema. A subschema that gets its own function is replaced by the schema that `call` returns for it. */
  rewriteForAjv: (part: SchemaPart, call: (part: SchemaPart) => Schema) => Schema;
  compile: (prepared: Schema) => ValidateFunction;
}

/** The cached result of checking one object with a function: the errors, and the evaluated fields. */
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
  /** The functions that this function calls. The set is filled when the schema is rewritten. */
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
   * Functions with a schema that was already rewritten, so that their calls are known. Such functions may still have to
   * wait until the functions that they call are compiled.
   */
  readonly #entered = new Set<SchemaFunction>();
  /** Every function before this index of `#known` is compiled. */
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

  /** Returns the function of a schema in its context, without reading the contents of the schema. */
  of({ schema, int64s, isTried }: SchemaPart): SchemaFunction {
    const target = targetOf(schema);
    const own = target ? int64sOf(target) : int64s;
    return this.#at({ schema: target ?? schema, int64s: withoutEmpty(own), isTried });
  }

  /**
   * Compiles a function, but not the functions that it calls. Two functions with equal rewritten schemas share the
   * compiled result.
   * @throws Error if the function cannot be compiled
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
   * After an error, discards compiled functions that directly or indirectly call a function which was not compiled, and
   * keeps all other compiled functions.
   */
  #reset(): void {
    const isLost = ({ check, calls }: SchemaFunction) => check && [...calls].some((called) => !called.check);
    const lost = [...this.#entered].filter(isLost);
    for (const one of lost) one.check = undefined;
    if (lost.length > 0) this.#reset();
  }

  /**
   * Takes one step of compiling: compiles one function, or first schedules the functions that it calls. Returns false
   * if all functions are compiled.
   */
  compileNext(): boolean {
    while (this.#known[this.#next]?.check) this.#next += 1;
    const next = this.#open.pop() ?? this.#known[this.#next];
    if (next) this.#step(next);
    return next !== undefined;
  }

  /**
   * Compiles a function after the functions that it calls. Equal called functions then already share a number, so that
   * their callers can be recognized as equal as well.
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
 * Writes a schema as text, so that schemas can be compared. The schema may contain bigints for numbers that a double
 * cannot hold. The text keeps all their digits.
 */
function writeSchema(prepared: Schema): string {
  try {
    return JSON.stringify(prepared);
  } catch {
    return stringify(prepared) as string;
  }
}
