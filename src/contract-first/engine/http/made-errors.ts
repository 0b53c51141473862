/** Makes the body of an error, in the contract's form. */
import type { Logger } from 'pino';
import type { ErrorForm, ErrorFormOf } from '../error-body.ts';
import type { HttpError } from '../errors.ts';

export interface MadeError extends Pick<ErrorForm, 'type' | 'write'> {
  body: unknown;
  /** The body as it is sent, unless a plugin puts another in its place. */
  text: string;
}

/** `formOf` is undefined where the request has no operation. */
export type RenderError = (failure: HttpError, requestId: string, formOf?: ErrorFormOf) => MadeError;

const PLAIN = { type: 'application/json; charset=utf-8', write: JSON.stringify };
const NO_TEXT = new Error('the body that it makes cannot be written');

/** The client is answered even if the team's `errors.ts` fails. */
export function buildRenderError(logger: Logger, formOfAll: ErrorFormOf): RenderError {
  return (failure, requestId, formOf = formOfAll) => {
    const { body } = failure;
    try {
      const { toBody, type, write } = formOf(failure.status);
      const made = toBody(body, requestId);
      const text: string | undefined = write(made);
      if (text === undefined) throw NO_TEXT;
      return { body: made, text, type, write };
    } catch (err) {
      logger.error({ reqId: requestId, err }, 'src/errors.ts has failed: an error was sent in another form');
      return { body, text: JSON.stringify(body), ...PLAIN };
    }
  };
}
