/** Compiles the bodies of replies: their checks and their writers. */
import type { Reply } from '../contract/contract.ts';
import type { BuildCheck, Check } from '../schema/checks.ts';
import { buildWriteDeclared } from '../schema/declared-json.ts';
import type { ReportProblem, Schema } from '../schema/json.ts';
import { buildWritePlain } from '../schema/plain-json.ts';

export interface CompiledReply {
  schema: Schema;
  check: Check;
  /** Writes a valid body. */
  write: (body: unknown) => string;
}

/** Compiles the body of a reply; replies with the same schema share the result. */
export type CompileReply = (reply: Reply, report: ReportProblem) => CompiledReply;

export function buildCompileReply(buildCheck: BuildCheck): CompileReply {
  const compiled = new Map<Schema, CompiledReply>();
  return (reply, report) => {
    const { status, schema, int64s } = reply;
    const known = compiled.get(schema);
    if (known) return known;
    const check = buildCheck(schema, { name: `response ${status}: body`, at: '/body', int64s }, report);
    const write = buildWritePlain(schema) ?? buildWriteDeclared(int64s);
    const made = { schema, check, write };
    compiled.set(schema, made);
    return made;
  };
}
