/** The bodies of all error replies, in the form that the contract declares. */
import { STATUS_CODES } from 'node:http';
import type { OwnError, OwnErrorBody } from 'contract-first';

export function toErrorBody({ message, status, problems, requestId }: OwnError): OwnErrorBody {
  return {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? message,
    status,
    detail: message,
    instance: requestId,
    ...(problems && {
      errors: problems.map((problem) => ({ pointer: problem.place, detail: problem.message })),
    }),
  };
}
