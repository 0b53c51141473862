/** The bodies that handlers answer as JSON: checked against the contract, and written. */
import type { Operation, Reply } from '../contract/contract.ts';
import { replyFor } from '../contract/replies.ts';
import type { Refuse } from '../schema/json.ts';
import type { CompileReply } from './compiled-reply.ts';

export interface ReplyWriter {
  /** @throws Error that says where the body breaks the contract, for the log */
  check: (body: unknown) => void;
  /** For a body that was checked. */
  write: (body: unknown) => string;
}

/** The server itself may refuse with a status that is not declared. */
const UNDECLARED: ReplyWriter = { check: () => {}, write: JSON.stringify };

export type WriterOf = (status: number) => ReplyWriter;

export function buildWriterOf(compileReply: CompileReply, { id, replies }: Operation, refuse: Refuse): WriterOf {
  const written = replies.filter(({ isJson }) => isJson);
  const writers = new Map(written.map((reply) => [reply, buildWriter(id, reply, compileReply, refuse)]));
  return (status) => writers.get(replyFor(replies, status) as Reply) ?? UNDECLARED;
}

function buildWriter(id: string, reply: Reply, compileReply: CompileReply, refuse: Refuse): ReplyWriter {
  const { check: problemsOf, write } = compileReply(reply, refuse);
  function check(body: unknown): void {
    const problems = problemsOf(body);
    if (!problems) return;
    throw new Error(`${id} has answered ${reply.status} against the contract: ${problems.join('; ')}`);
  }
  return { check, write };
}
