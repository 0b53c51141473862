/** Compiles the bodies of replies: their checks and their writers. */
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import type { Reply } from '../contract/contract.ts';
import { prepare } from '../schema/ajv.ts';
import { compile } from '../schema/compilation.ts';
import { buildWriteDeclared } from '../schema/declared-json.ts';
import type { Json, Refuse } from '../schema/json.ts';
import { buildWritePlain } from '../schema/plain-json.ts';

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
