/** What all failures of an operation have, whoever is the cause. */
import { challengesOf } from '../access/challenges.ts';
import type { Contract, Operation } from '../contract/contract.ts';
import type { ErrorFormOf } from '../error-body.ts';
import { deprecationHeaders } from './deprecation.ts';

export interface FailureForm {
  formOf: ErrorFormOf;
  /** On each of them, also on one from before the operation is entered, as by a plugin. */
  headers: Record<string, string>;
  /** How to send a key (RFC 9110, section 11.6.1), where a plugin that refuses does not say it. */
  challenge: string | undefined;
  /** The media types of its body (RFC 9110, section 15.5.16); undefined where it has none. */
  accept: string | undefined;
}

export function toFailureForm(operation: Operation, contract: Contract, formOf: ErrorFormOf): FailureForm {
  const [challenge] = challengesOf(operation.security, contract.title)[401];
  const accept = operation.body?.contents.map(({ type }) => type).join(', ');
  return { formOf, headers: deprecationHeaders(operation, contract), challenge, accept };
}
