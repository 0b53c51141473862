/** Compiles schemas to functions. A schema that does not compile is refused in one line. */
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import type { Json, Refuse, Reply } from '../contract/contract.ts';
import { findInt64s } from '../contract/int64-places.ts';
import { targetOf } from '../contract/recursion.ts';
import { mapSubschemas } from '../contract/subschemas.ts';
import { buildWriteDeclared } from './declared-json.ts';
import { buildWritePlain } from './plain-json.ts';
import { prepare } from './schemas.ts';

/** Compiles a prepared schema. `name` is the value's name in problems: `request` has its fault at `request.body.name`. */
export function compile(ajv: Ajv2020, schema: Json, name: string, refuse: Refuse): ValidateFunction {
  try {
    addRecursions(ajv, schema);
    return ajv.compile(schema);
  } catch (error) {
    // Without ajv's own words for the place.
    const message = (error as Error).message.replace(/ in schema at path .*|(?<= for: )data\d*\./, '');
    refuse(`${name}${findFault(ajv, schema)}: ${message}`);
    return ajv.compile(true);
  }
}

export interface CompiledReply {
  validate: ValidateFunction;
  /** For a body that is valid. */
  write: (body: unknown) => string;
}

/** Compiles the body of a reply, the same schema once for all replies that have it. */
export type CompileReply = (reply: Reply, refuse: Refuse) => CompiledReply;

export function buildCompileReply(ajv: Ajv2020): CompileReply {
  const compiled = new Map<Json, CompiledReply>();
  return ({ status, schema, int64s }, refuse) => {
    const known = compiled.get(schema);
    if (known) return known;
    const validate = compile(ajv, prepare(schema, int64s), `response ${status}: body`, refuse);
    const made = { validate, write: buildWritePlain(schema) ?? buildWriteDeclared(int64s) };
    compiled.set(schema, made);
    return made;
  };
}

/** Adds the schemas that refer to themselves under their names, each with the keywords of its own places. */
function addRecursions(ajv: Ajv2020, schema: Json): void {
  const target = targetOf(schema);
  if (target && !ajv.schemas[schema.$ref]) {
    const prepared = prepare(
      target,
      findInt64s(target, schema.$ref, () => {}),
    );
    ajv.addSchema(prepared, schema.$ref);
    addRecursions(ajv, prepared);
  }
  mapSubschemas(schema, (subschema) => addRecursions(ajv, subschema));
}

/** The place of the innermost schema that cannot be compiled by itself. */
function findFault(ajv: Ajv2020, schema: Json): string {
  let fault = '';
  mapSubschemas(schema, (subschema, keyword, name) => {
    if (fault === '' && !isSound(ajv, subschema)) {
      const step = keyword === 'properties' ? [name] : [keyword, name].filter(Boolean);
      fault = `.${step.join('.')}${findFault(ajv, subschema)}`;
    }
  });
  return fault;
}

function isSound(ajv: Ajv2020, schema: Json): boolean {
  try {
    // Not as the root, where a default means nothing and is refused.
    ajv.compile({ properties: { value: schema } });
    return true;
  } catch {
    return false;
  }
}
