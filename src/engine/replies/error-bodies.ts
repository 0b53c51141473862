/** The server's own errors in the form that the contract has for them: what the team's `errors.ts` makes of them, or text. */
import { stringify } from 'lossless-json';
import type { Operation, Reply } from '../contract/contract.ts';
import { PLAIN_JSON, toContentType } from '../contract/media-types.ts';
import { replyFor } from '../contract/replies.ts';
import type { ErrorForm, ErrorFormOf, OwnError, ToErrorBody } from '../error-body.ts';
import { keywordsOf } from '../schema/json.ts';

/** For one operation; without, for requests that are for none. */
export function buildErrorFormOf(toErrorBody: ToErrorBody, { id, replies }: Partial<Operation> = {}): ErrorFormOf {
  const forms = new Map<number, ErrorForm>();

  function addForm(status: number): ErrorForm {
    const reply = replies && replyFor(replies, status);
    const form = {
      toBody: buildToBody(toErrorBody, id, reply),
      type: toContentType(reply?.type ?? PLAIN_JSON),
      write: reply?.isJson === false ? String : writeJson,
    };
    forms.set(status, form);
    return form;
  }

  return (status) => forms.get(status) ?? addForm(status);
}

/** A 64-bit integer takes the slower way. */
function writeJson(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch {
    return stringify(body) as string;
  }
}

/** In one reply of one operation. */
export function buildToBody(
  toErrorBody: ToErrorBody,
  id: string | undefined,
  reply: Reply | undefined,
): ErrorForm['toBody'] {
  if (reply && !reply.isJson) return (parts) => toErrorText(parts, reply);
  const place = { operation: id as OwnError['operation'], reply: reply?.status };
  return ({ code, message, status, problems }, requestId) =>
    toErrorBody({ code, message, status, problems, requestId, ...place });
}

/** Of a reply that is text: as much as it may have. */
export function toErrorText({ message }: Pick<OwnError, 'message'>, { type, schema }: Reply): string {
  const text = type === 'text/html' ? message.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`) : message;
  // Lengths of JSON Schema are in characters, not in UTF-16.
  return [...text].slice(0, keywordsOf(schema).maxLength).join('');
}
