/** The bodies of the server's own errors: made by the team's `errors.ts`, or text where the contract has text. */
import { stringify } from 'lossless-json';
import type { Operation, Reply } from '../contract/contract.ts';
import { PLAIN_JSON, toContentType } from '../contract/media-types.ts';
import { replyFor } from '../contract/replies.ts';
import type { ErrorForm, ErrorFormOf, OwnError, ToErrorBody } from '../error-body.ts';
import { keywordsOf } from '../schema/json.ts';

/** Builds the error forms of an operation; without one, of requests that have no operation. */
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

/** Bigints need the slower writer. */
function writeJson(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch {
    return stringify(body) as string;
  }
}

/** Builds the function that makes the error bodies of one reply. */
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

/** The message as the body of a text reply, cut to its `maxLength`. */
export function toErrorText({ message }: Pick<OwnError, 'message'>, { type, schema }: Reply): string {
  const text = type === 'text/html' ? message.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`) : message;
  // JSON Schema counts characters, not UTF-16 units.
  return [...text].slice(0, keywordsOf(schema).maxLength).join('');
}
