/** Writes the bodies that handlers answer as JSON, once they are what the contract says. */
import type { Operation, Reply } from '../contract/contract.ts';
import { replyFor } from '../contract/replies.ts';
import type { Refuse } from '../schema/json.ts';
import type { CompileReply } from './compiled-reply.ts';

type Writer = (body: unknown) => string;

/** @throws Error that says where the body breaks the contract, for the log */
export type Write = (status: number, body: unknown) => string;

export function buildWrite(compileReply: CompileReply, { id, replies }: Operation, refuse: Refuse): Write {
  const written = replies.filter(({ isJson }) => isJson);
  const writers = new Map(written.map((reply) => [reply, buildWriter(id, reply, compileReply, refuse)]));
  const byStatus = new Map<number, Writer>();

  function find(status: number): Writer {
    const writer = writers.get(replyFor(replies, status) as Reply) ?? JSON.stringify;
    byStatus.set(status, writer);
    return writer;
  }

  return (status, body) => (byStatus.get(status) ?? find(status))(body);
}

function buildWriter(id: string, reply: Reply, compileReply: CompileReply, refuse: Refuse): Writer {
  const { check, write } = compileReply(reply, refuse);
  return (body) => {
    const problems = check(body);
    if (!problems) return write(body);
    throw new Error(`${id} has answered ${reply.status} against the contract: ${problems.join('; ')}`);
  };
}
