/**
 * A schema that refers to itself, for ajv: each object is checked by it once in a run. Without this, a schema that comes back to
 * itself in two ways (two parts of `allOf`, `if` and `then`, two alternatives) would check what is within an object four times, what
 * is within that eight times, and so on.
 */
import { _, type CodeKeywordDefinition, type ValidateFunction } from 'ajv/dist/2020.js';
import { callRef } from 'ajv/dist/vocabularies/core/ref.js';
import { MAX_ERRORS } from './bounded-keywords.ts';
import type { Json } from './json.ts';

/** What a run has found of an object. */
type Outcome = Pick<ValidateFunction, 'errors' | 'evaluated'>;

interface Recursion extends Outcome {
  (...args: Parameters<ValidateFunction>): boolean;
  target: Json;
  check: ValidateFunction | undefined;
  outcomes: Map<unknown, Outcome>;
}

export class Recursions {
  readonly #numbers = new Map<Json, number>();
  readonly #known: Recursion[] = [];

  /** `recursion: 3` is the schema with this number. */
  readonly keyword: CodeKeywordDefinition = {
    keyword: 'recursion',
    schemaType: 'number',
    code: (cxt) => callRef(cxt, _`${cxt.gen.scopeValue('wrapper', { ref: this.#known[cxt.schema] })}`),
  };

  /** Its number, whether it is compiled yet or not. */
  numberOf(target: Json): number {
    const number = this.#numbers.get(target) ?? this.#known.push(buildRecursion(target)) - 1;
    this.#numbers.set(target, number);
    return number;
  }

  /** Compiles the recursions that were asked for since the last time, and those that are met on the way. */
  compileNew(compile: (target: Json) => ValidateFunction): void {
    for (const recursion of this.#known) recursion.check ??= compile(recursion.target);
  }

  /** At the end of a run: the next one is about other objects. */
  forget(): void {
    for (const { outcomes } of this.#known) outcomes.clear();
  }
}

function buildRecursion(target: Json): Recursion {
  const outcomes = new Map<unknown, Outcome>();
  const recursion: Recursion = Object.assign(
    (data: unknown, ...context: unknown[]) => {
      const { errors, evaluated } = outcomes.get(data) ?? run(data, context);
      Object.assign(recursion, { errors, evaluated });
      return !errors;
    },
    { target, check: undefined, outcomes },
  );
  return recursion;

  function run(data: unknown, context: unknown[]): Outcome {
    const check = recursion.check as ValidateFunction;
    Reflect.apply(check, undefined, [data, ...context]);
    const outcome: Outcome = { errors: check.errors?.slice(0, MAX_ERRORS) ?? null };
    if (check.evaluated) outcome.evaluated = { ...check.evaluated };
    if (typeof data === 'object') outcomes.set(data, outcome);
    return outcome;
  }
}
