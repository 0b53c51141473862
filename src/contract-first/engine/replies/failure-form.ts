/** The parts that all error replies of an operation have in common, whoever causes them. */
import { challengesOf } from '../access/challenges.ts';
import type { Contract, Operation } from '../contract/contract.ts';
import type { ErrorFormOf } from '../error-body.ts';
import { deprecationHeaders } from './deprecation.ts';

export interface FailureForm {
  formOf: ErrorFormOf;
  /** The headers of each error reply, also of a plugin's that comes before the operation. */
  headers: Record<string, string>;
  /** The challenge (RFC 9110, section 11.6.1), for a refusal by a plugin that has none. */
  challenge: string | undefined;
  /** The media types of the operation's body (RFC 9110, section 15.5.16); undefined without a body. */
  accept: string | undefined;
}

export function toFailureForm(operation: Operation, contract: Contract, formOf: ErrorFormOf): FailureForm {
  const [challenge] = challengesOf(operation.security, contract.title)[401];
  const accept = operation.body?.contents.map(({ type }) => type).join(', ');
  return { formOf, headers: deprecationHeaders(operation, contract), challenge, accept };
}
