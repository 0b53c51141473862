/** Checks JSON bodies of handlers' answers against the contract, and writes them. */
import { parseExactJson } from '../../json/exact-json.ts';
import { JsonText } from '../../json/json-text.ts';
import { toPointerOf } from '../../json/pointer.ts';
import { toShown } from '../../json/whole-records.ts';
import type { Operation, Reply } from '../contract/contract.ts';
import { inAllTypes } from '../contract/replies.ts';
import { ErrorParts } from '../errors/catalogue.ts';
import { buildToBody, type ErrorForm, type ToErrorBody } from '../errors/error-body.ts';
import { buildToBigints } from '../schema/bigints.ts';
import type { BuildCheck, Check } from '../schema/checks.ts';
import { type ReportProblem, reportIn, type Schema } from '../schema/json.ts';
import { buildWriteJson, toWritten, type WriteJson } from '../schema/json-writers.ts';

export interface ReplyWriter {
  /**
   * Checks a body, and returns the body in the form that `write` expects.
   * @throws Error for the log, with the location in the contract, if the body breaks the contract
   */
  check: (body: unknown, request: { id: string }) => unknown;
  /** Writes a body that `check` has returned. */
  write: WriteJson;
}

/**
 * Returns the writer of a declared reply in one of its media types. If no reply is passed, returns the writer of errors
 * with a status that the contract does not declare.
 */
export type WriterOf = (reply: Reply | undefined) => ReplyWriter;

export interface WriterOptions {
  compileReply: CompileReply;
  /** For each collection, the schemas of replies that send text from the store without a check. */
  proven: Readonly<Record<string, Schema[]>>;
  toErrorBody: ToErrorBody;
  /** The media type of errors with a status that the contract does not declare. */
  errorType?: string;
}

export function buildWriterOf(options: WriterOptions, { id, replies }: Operation, report: ReportProblem): WriterOf {
  const written = inAllTypes(replies).filter(({ isJson }) => isJson);
  const writers = new Map(written.map((reply) => [reply, buildWriter(id, reply, options, report)]));
  const toBody = buildToBody(options.toErrorBody, id, undefined);
  /** The writer of the server's errors with a status that the contract does not declare. */
  const undeclared: ReplyWriter = {
    check: (body, request) => toContractsOwn(body, request, toBody),
    write: JSON.stringify,
  };
  return (reply) => writers.get(reply as Reply) ?? undeclared;
}

function buildWriter(id: string, reply: Reply, options: WriterOptions, report: ReportProblem): ReplyWriter {
  const { compileReply, proven, toErrorBody } = options;
  const { check: problemsOf, write } = compileReply(reply, report);
  const toBody = buildToBody(toErrorBody, id, reply);
  const unchecked = new Set(Object.keys(proven).filter((name) => proven[name]?.includes(reply.schema)));
  const toBigints = buildToBigints(reply.int64s) ?? ((value: unknown) => value);

  /**
   * Parses the JSON text of an answer, so that the value can be checked and written again. Writing it again matters,
   * because a number in the text may be spelled in a way that some clients cannot read, such as 7.00E+1.
   */
  function parse(answered: JsonText<unknown>): unknown {
    // Records that were read with their internal columns are written without these columns.
    return answered.source.isWhole ? toWritten(toShown(answered.read())) : toBigints(parseExactJson(answered.text));
  }

  function check(answered: unknown, request: { id: string }): unknown {
    const isText = answered instanceof JsonText;
    if (isText && unchecked.has(answered.source.name)) return answered;
    const body = isText ? parse(answered) : toWritten(toShown(toContractsOwn(answered, request, toBody)));
    const problems = problemsOf(body);
    if (!problems) return body;
    throw new Error(`${id} has answered ${reply.status} against the contract: ${problems.join('; ')}`);
  }
  return { check, write: (body) => (body instanceof JsonText ? body.text : write(body)) };
}

/** Converts the result of `refuse` to the contract's error body. Returns other bodies unchanged. */
const toContractsOwn = (body: unknown, { id }: { id: string }, toBody: ErrorForm['toBody']): unknown =>
  body instanceof ErrorParts ? toBody(body, id) : body;

export interface CompiledReply {
  schema: Schema;
  check: Check;
  /** Writes a body that has passed `check`. */
  write: WriteJson;
}

/** Compiles the check and the writer for the body of a reply. Replies with the same schema share both. */
export type CompileReply = (reply: Reply, report: ReportProblem) => CompiledReply;

export function buildCompileReply(buildCheck: BuildCheck): CompileReply {
  const compiled = new Map<Schema, CompiledReply>();
  return (reply, report) => {
    const { status, type, schema, int64s } = reply;
    const known = compiled.get(schema);
    if (known) return known;
    const reportBody = reportIn(report, toPointerOf('responses', status, 'content', type, 'schema'));
    const check = buildCheck(schema, { name: `response ${status}: body`, at: '/body', int64s }, reportBody);
    const made = { schema, check, write: buildWriteJson(schema) };
    compiled.set(schema, made);
    return made;
  };
}
