/** The body of a failure, in the form that the contract has for it. */
import type { Logger } from 'pino';
import type { ErrorForm, ErrorFormOf } from '../error-body.ts';
import type { HttpError } from '../errors.ts';

export interface MadeError extends Pick<ErrorForm, 'type' | 'write'> {
  body: unknown;
}

/** Without a form of its own, the failure is of no operation. */
export type MakeError = (failure: HttpError, requestId: string, formOf?: ErrorFormOf) => MadeError;

const PLAIN = { type: 'application/json; charset=utf-8', write: JSON.stringify };

/** Where the team's `errors.ts` itself fails, the client is still answered. */
export function buildMakeError(logger: Logger, formOfAll: ErrorFormOf): MakeError {
  return (failure, requestId, formOf = formOfAll) => {
    const { body } = failure;
    try {
      const { toBody, type, write } = formOf(failure.status);
      return { body: toBody(body, requestId), type, write };
    } catch (err) {
      logger.error({ reqId: requestId, err }, 'src/errors.ts has failed: an error was sent in another form');
      return { body, ...PLAIN };
    }
  };
}
