/**
 * Schemas that are checked by functions of their own, for ajv: what refers to itself, and what is large. Equal ones have one, which is
 * compiled when it is first called. In a run it checks each object once: a schema that comes back to itself in two ways (two parts of
 * `allOf`, `if` and `then`, two alternatives) would check what is within an object four times, what is within that eight times, and so on.
 */
import { _, type CodeKeywordDefinition, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { callRef } from 'ajv/dist/vocabularies/core/ref.js';
import { stringify } from 'lossless-json';
import { MAX_ERRORS } from './bounded-keywords.ts';
import { findInt64s, type Int64Map } from './int64-map.ts';
import type { Schema } from './json.ts';
import { targetOf } from './recursion.ts';

/** A schema where it stands. */
export interface Part {
  schema: Schema;
  int64s: Int64Map;
  /** Whether a value need not fit it, as in `anyOf`: then no default is filled in. */
  isTried: boolean;
}

/** How ajv takes a schema, and compiles it. */
export interface Compiler {
  /** With what `call` gives in the place of each part that has a function of its own. */
  prepare: (part: Part, call: (part: Part) => Schema) => Schema;
  compile: (prepared: Schema) => ValidateFunction;
}

/** The errors of an object in this run, and the fields that were seen. */
interface Outcome {
  errors: ErrorObject[] | null;
  evaluated: Evaluated;
}

type Evaluated = NonNullable<ValidateFunction['evaluated']>;

export interface SchemaFunction extends Partial<Outcome> {
  /** As ajv calls it, with what this run has found. */
  (...args: Parameters<ValidateFunction>): boolean;
  part: Part;
  number: number;
  /** Undefined until it is known which functions it calls. */
  prepared: Schema | undefined;
  calls: Set<SchemaFunction>;
  check: ValidateFunction | undefined;
}

export class Functions {
  readonly #compiler: Compiler;
  readonly #known: SchemaFunction[] = [];
  readonly #ofSchemas = { tried: new Map<Schema, OfMaps>(), sure: new Map<Schema, OfMaps>() };
  readonly #ofTexts = new Map<string, SchemaFunction>();
  readonly #whole = new Set<SchemaFunction>();
  /** All before it are compiled. */
  #next = 0;
  /** Where this run has found something. */
  readonly #found: Map<unknown, Outcome>[] = [];

  constructor(compiler: Compiler) {
    this.#compiler = compiler;
  }

  /** `function: 3` is the schema whose function has this number. */
  readonly keyword: CodeKeywordDefinition = {
    keyword: 'function',
    schemaType: 'number',
    code: (cxt) => callRef(cxt, _`${cxt.gen.scopeValue('wrapper', { ref: this.#known[cxt.schema] })}`),
  };

  /** @throws Error where it cannot be prepared */
  of(part: Part): SchemaFunction {
    const target = targetOf(part.schema);
    // It may call all that is known, so that it is prepared when it is compiled.
    if (target) return this.#at({ ...part, schema: target, int64s: findInt64s(target, '', () => {}) });
    const made = this.#at(part);
    if (made.prepared !== undefined) return made;
    const text = writeSchema(this.#prepare(made));
    const equal = this.#ofTexts.get(text) ?? made;
    this.#ofTexts.set(text, equal);
    this.#known[made.number] = equal;
    return this.#at(part, equal);
  }

  /** Ready to check values. @throws Error where it cannot be compiled */
  compile(made: SchemaFunction): ValidateFunction {
    made.check ??= this.#compiler.compile(made.prepared ?? this.#prepare(made));
    return made.check;
  }

  /** With all that it calls. @throws Error where one of them cannot be compiled */
  compileWhole(made: SchemaFunction): ValidateFunction {
    const seen = new Set([made]);
    for (const one of seen) {
      this.compile(one);
      for (const called of one.calls) if (!this.#whole.has(called)) seen.add(called);
    }
    for (const one of seen) this.#whole.add(one);
    return this.compile(made);
  }

  /** One of those that were not called yet; false where there is none. */
  compileNext(): boolean {
    const next = this.#known.slice(this.#next).find(({ check }) => !check);
    this.#next = next ? next.number : this.#known.length;
    if (next) this.compile(next);
    return next !== undefined;
  }

  /** At the end of a run: the next one is about other objects. */
  forget(): void {
    for (const outcomes of this.#found) outcomes.clear();
    this.#found.length = 0;
  }

  #at(part: Part, known?: SchemaFunction): SchemaFunction {
    const { schema, int64s, isTried } = part;
    const ofSchemas = this.#ofSchemas[isTried ? 'tried' : 'sure'];
    const ofMaps: OfMaps = ofSchemas.get(schema) ?? new Map();
    ofSchemas.set(schema, ofMaps);
    const made = known ?? ofMaps.get(int64s) ?? this.#add(part);
    ofMaps.set(int64s, made);
    return made;
  }

  #prepare(made: SchemaFunction): Schema {
    made.prepared = this.#compiler.prepare(made.part, (part) => {
      const called = this.of(part);
      made.calls.add(called);
      return { function: called.number };
    });
    return made.prepared;
  }

  #add(part: Part): SchemaFunction {
    const outcomes = new Map<unknown, Outcome>();
    const run = (...args: Parameters<ValidateFunction>): Outcome => {
      const check = this.compile(made);
      Reflect.apply(check, undefined, args);
      const { errors, evaluated } = check;
      const outcome = { errors: errors?.slice(0, MAX_ERRORS) ?? null, evaluated: { ...(evaluated as Evaluated) } };
      if (typeof args[0] !== 'object') return outcome;
      if (outcomes.size === 0) this.#found.push(outcomes);
      outcomes.set(args[0], outcome);
      return outcome;
    };
    const made: SchemaFunction = Object.assign(
      (...args: Parameters<ValidateFunction>): boolean => {
        const { errors, evaluated } = outcomes.get(args[0]) ?? run(...args);
        // The caller adds its own to them.
        made.errors = errors?.slice() ?? null;
        made.evaluated = evaluated;
        return !errors;
      },
      { part, number: this.#known.length, prepared: undefined, calls: new Set<SchemaFunction>(), check: undefined },
    );
    this.#known.push(made);
    return made;
  }
}

type OfMaps = Map<Int64Map, SchemaFunction>;

/** Numbers that are bigint are those that no double holds: their digits tell them apart. */
function writeSchema(prepared: Schema): string {
  try {
    return JSON.stringify(prepared);
  } catch {
    return stringify(prepared) as string;
  }
}
