/** The body of each error that the server itself answers, as your contract has it. Yours; `npm run generate` tries it for every reply. */
import type { OwnError, OwnErrorBody } from './engine/error-body.ts';

export function toErrorBody({ code, message, status, problems }: OwnError): OwnErrorBody {
  return problems ? { code, message, status, problems } : { code, message, status };
}
