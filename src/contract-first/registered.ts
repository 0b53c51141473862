/**
 * The types of the service that is being compiled. The service's `generated/register.ts` adds them to `Register`. The
 * code of the engine imports them from this file. If the engine is compiled without a service, they fit every service.
 */
// biome-ignore lint/suspicious/noEmptyInterface: a service adds its types by `declare module`.
export interface Register {}

/** The operations of the contract, by operationId, as openapi-typescript writes them. */
export type operations = Register extends { operations: infer All } ? All : AnyOperations;
type Values = Readonly<Record<string, unknown>>;
type AnyOperations = Record<string, AnyOperation>;
interface AnyOperation {
  parameters: { query?: Values; header?: Values; path?: Values };
  requestBody?: { content: Record<string, unknown> };
  responses: Record<number, { headers: object; content?: Record<string, unknown> }>;
}

/** The operations that may be called without a key. */
export type OpenOperation = Register extends { open: infer All } ? All : never;

/** The operations that callers can call only with a token, because the contract declares no other key for them. */
export type TokenOperation = Register extends { byToken: infer All } ? All : never;

/** The components of the contract. */
export type components = Register extends { components: infer All } ? All : { schemas: AnySchemas };
type AnySchemas = Readonly<Record<never, never>>;

/** The descriptions of the collections. */
export type Domain = Register extends { domain: infer All } ? All : Record<never, never>;

/** The codes that the collections add to the catalogue of errors. */
export type DomainErrors = Register extends { errors: infer All } ? All : Record<never, never>;

/** The transactions that the collections define, by collection and by name. */
export type ServiceTransactions = Register extends { transactions: infer All } ? All : Record<never, never>;

/** The services that `src/services.ts` builds. */
export type Services = Register extends { services: infer All } ? All : object;

/** The claims of a token from another issuer, which `verifyToken` in `src/tokens.ts` returns. */
export type Claims = Register extends { claims: infer All } ? All : Readonly<Record<string, unknown>>;
