/**
 * The main entry point of the package, `contract-first`: the exports for handlers and collections. The module does not
 * load Fastify.
 */
export { parseInt64 } from '../json/exact-number.ts';
export type { JsonText } from '../json/json-text.ts';
export type { Register } from '../registered.ts';
export { isRefused } from '../store/collection.ts';
export type { SchemaOf as Schema } from '../store/tables/description.ts';
export {
  addErrors,
  type ErrorBody,
  type ErrorCode,
  HttpError,
  type MissingErrors,
  notImplemented,
  refuse,
  refuseAt,
} from './errors/catalogue.ts';
export { type OwnError, type OwnErrorBody, toErrorBody } from './errors/error-body.ts';
export type { RawBody } from './replies/raw-bodies.ts';
export type { Bytes, FormField, FormFile } from './requests/form-fields.ts';
export { ifMatch, isUnchanged, toTag } from './requests/request-headers.ts';
export { answer } from './routes/answer.ts';
export {
  type AnswerOf,
  type Handler,
  type HandlerContext,
  handle,
  type UrlOf,
} from './routes/handler.ts';
export type { InReply, InRequest, OperationId } from './routes/read-write-only.ts';
export type { ServiceParts, Settings, SettingsOf } from './services.ts';
export type { VerifyToken } from './tokens.ts';
