/** Yours: makes the body of the server's own errors, as your contract declares it. `npm run generate` tries it for every reply. */
import type { OwnError, OwnErrorBody } from 'contract-first';

export function toErrorBody({ code, message, status, problems }: OwnError): OwnErrorBody {
  return problems ? { code, message, status, problems } : { code, message, status };
}
