/** Writes the bodies that handlers answer as JSON, once they are what the contract says. */
import type { Operation, Refuse, Reply } from '../contract/contract.ts';
import type { CompileReply } from './compilation.ts';
import { toProblem } from './problems.ts';

type Writer = (body: unknown) => string;

/** @throws Error that says where the body breaks the contract, for the log */
export type Write = (status: number, body: unknown) => string;

export function buildWrite(compileReply: CompileReply, { id, replies }: Operation, refuse: Refuse): Write {
  const declared = new Map(
    replies.map((reply) => [reply.status.toUpperCase(), buildWriter(id, reply, compileReply, refuse)]),
  );
  const byStatus = new Map<number, Writer>();

  /** That of the status, of its range, or the default. The server itself may refuse with a status that is not declared. */
  function find(status: number): Writer {
    const names = [`${status}`, `${status}`.replace(/..$/, 'XX'), 'DEFAULT'];
    const name = names.find((known) => declared.has(known));
    const writer = declared.get(name as string) ?? JSON.stringify;
    byStatus.set(status, writer);
    return writer;
  }

  return (status, body) => (byStatus.get(status) ?? find(status))(body);
}

function buildWriter(id: string, reply: Reply, compileReply: CompileReply, refuse: Refuse): Writer {
  const { validate, write } = compileReply(reply, refuse);
  return (body) => {
    if (validate(body)) return write(body);
    const problems = validate.errors?.map((error) =>
      toProblem({ ...error, instancePath: `/body${error.instancePath}` }),
    );
    throw new Error(`${id} has answered ${reply.status} against the contract: ${problems?.join('; ')}`);
  };
}
