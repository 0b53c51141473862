/**
 * The function for writing handlers: `handle('getItem', async (call) => answer)`. The types of `call` and `answer` come
 * from the contract.
 */
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { JsonText } from '../../json/json-text.ts';
import type { Whole } from '../../json/whole-records.ts';
import type {
  Claims,
  Domain,
  OpenOperation,
  operations,
  Services,
  ServiceTransactions,
  TokenOperation,
} from '../../registered.ts';
import type { CallsOf } from '../../store/changes/transactions.ts';
import type { Awaitable, Idempotency } from '../../store/collection.ts';
import type { KeyOwner } from '../../store/store.ts';
import type { CollectionsOf } from '../../store/tables/description.ts';
import type { ErrorBody, ErrorCode, ErrorParts } from '../errors/catalogue.ts';
import type { RawBody } from '../replies/raw-bodies.ts';
import type { AnyAnswer } from '../replies/sending.ts';
import type { Bytes, FormField, FormFile } from '../requests/form-fields.ts';
import type { InReply, InRequest, IsJson, MediaType, OperationId } from './read-write-only.ts';

type ParametersOf<Id extends OperationId> = operations[Id]['parameters'];
export type PathOf<Id extends OperationId> = Present<ParametersOf<Id>['path']>;
export type QueryOf<Id extends OperationId> = Present<ParametersOf<Id>['query']>;
export type HeadersOf<Id extends OperationId> = Present<ParametersOf<Id>['header']>;
type Present<T> = [T] extends [undefined] ? Record<never, never> : Exclude<T, undefined>;

/**
 * The union of the declared bodies of a request, each with its media type. If the operation takes no body, or the
 * client sent none, both properties are undefined.
 */
type ContentOf<Request> = Request extends { content: infer Content }
  ? { [Type in keyof Content]: { contentType: Type; body: SentAs<Type, Content[Type]> } }[keyof Content]
  : { contentType: undefined; body: undefined };
type SentAs<Type, Body> =
  IsJson<Type> extends true
    ? InRequest<Body>
    : Lowercase<Type & string> extends 'multipart/form-data' | 'application/x-www-form-urlencoded'
      ? AsyncIterable<PartIn<InRequest<Body>>>
      : Bytes;
type PartIn<Form> = { [Name in keyof Form]-?: PartOf<Name, NonNullable<Form[Name]>> }[keyof Form];
type PartOf<Name, Value> = Value extends Bytes
  ? FormFile<Name>
  : Value extends readonly (infer Item)[]
    ? PartOf<Name, Item>
    : FormField<Name, Value>;

/**
 * Makes the URL of an operation, with the prefix of the contract: `urlOf('getItem', { itemId: 1n })` returns
 * `/v1/items/1`. Values in `changes` replace parameters of `query`.
 */
export type UrlOf = <Id extends OperationId>(
  id: Id,
  params: PathOf<Id>,
  query?: Partial<QueryOf<Id>>,
  changes?: Partial<QueryOf<Id>>,
) => string;

/** A request that fits the contract, with typed parameters and body, and with defaults filled in. */
interface Context<Params, Query, Headers, Sender> {
  params: Params;
  query: Query;
  /** The header parameters, by their names in the contract. */
  headers: Headers;
  urlOf: UrlOf;
  /**
   * The owner of the request's key or token. Undefined if the operation does not need a key and the request did not
   * send one.
   */
  caller: Sender;
  /** The services that the team's `src/services.ts` has built. */
  services: Services;
  /**
   * Pass this to a change, so that the change takes effect only once, even if the client sends the request several
   * times. Undefined for a request without an `Idempotency-Key`.
   */
  idempotency: Idempotency | undefined;
  /** The id of the request: `X-Request-Id` of the reply. Every log line of the request contains it. */
  requestId: string;
  /** Fastify's request, with the additions of plugins, and with the checked values as `params`, `query` and `body`. */
  request: FastifyRequest;
  /** Writes log lines that contain the request's id. */
  log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
}
/** The owner of a key or a token. For a token, `src/tokens.ts` supplies the claims. */
type AnyCaller = KeyOwner & { readonly claims: Claims | undefined };
type CallerOf<Id> = Id extends TokenOperation ? KeyOwner & { readonly claims: Claims } : AnyCaller;

/** The argument of an operation's handler. */
export type HandlerContext<Id extends OperationId> = Context<
  PathOf<Id>,
  QueryOf<Id>,
  HeadersOf<Id>,
  Id extends OpenOperation ? CallerOf<Id> | undefined : CallerOf<Id>
> &
  CollectionsOf<Domain, CallsOf<ServiceTransactions>> &
  ContentOf<operations[Id]['requestBody']> & {
    /**
     * Returns the type that the client prefers, according to its header `Accept`. Of several types that the client
     * likes equally, returns the first one. Returns undefined if the client accepts none of the types.
     */
    accepts: <Type extends TypesIn<Responses<Id>>>(...types: Type[]) => Type | undefined;
  };
type TypesIn<Replies> = {
  [Key in keyof Replies]: Replies[Key] extends { content: infer Content } ? MediaType<keyof Content> : never;
}[keyof Replies];

/** The headers that the server itself adds to the replies that declare them. */
type ServerHeader =
  | 'X-Request-Id'
  | 'WWW-Authenticate'
  | 'Retry-After'
  | 'RateLimit'
  | 'RateLimit-Policy'
  | 'Deprecation'
  | 'Sunset';
/**
 * The `Link` header of a deprecated operation is optional for handlers, because the server adds a link to the
 * successor.
 */
type SuccessorLink<Headers> = Headers extends { Deprecation: unknown } | { Sunset: unknown } ? 'Link' : never;
type Declared<Headers> = {
  [Name in keyof Headers as string extends Name
    ? never
    : Exclude<Name, ServerHeader | SuccessorLink<Headers>>]: Headers[Name];
} & { [Name in SuccessorLink<Headers>]?: string };
/** `next` is the cursor of the next page of a list. The server makes the `Link` header from it. */
type WithNext<Headers> = 'link' extends Lowercase<keyof Headers & string> ? { next?: string | undefined } : unknown;
type WithHeaders<Headers> =
  Record<never, never> extends Headers ? { headers?: Headers & object } : { headers: Headers };

/**
 * Adds the status of the reply to the type of a body that contains its status: a body in the form of the contract's
 * `Error` schema.
 */
type Repeated<Body, Status> = Body extends ErrorBody ? Body & { status: Status } : Body;
type WithBody<Response, Status> = Response extends { content: infer Content }
  ? Named<{ [Name in keyof Content as Served<Name, Content>]: BodyOf<MediaType<Name>, Content[Name], Status> }>
  : { body?: never };
/**
 * The media type that the server sends for a declared one. A range such as `application/*` is served as JSON. If the
 * reply also declares JSON, the range is never used.
 */
type Served<Name, Content> = Name extends '*/*' | 'application/*'
  ? 'application/json' extends keyof Content
    ? never
    : MediaType<Name>
  : MediaType<Name>;
/**
 * The types of an answer for the declared bodies of a status. An answer may name its media type. If it names none, its
 * body must fit all declared JSON types; if no JSON type is declared, the body must fit one of the declared types.
 */
type Named<Bodies> =
  | { [Type in keyof Bodies]: { type: Type; body: Bodies[Type] } }[keyof Bodies]
  | { type?: never; body: UnnamedBody<Bodies, JsonIn<keyof Bodies>> };
type UnnamedBody<Bodies, Json extends keyof Bodies> = [Json] extends [never]
  ? Bodies[keyof Bodies]
  : { [Type in Json]: (given: { body: Bodies[Type] }) => void }[Json] extends (given: infer Given) => void
    ? Given['body' & keyof Given]
    : never;
type JsonIn<All> = All extends unknown ? (IsJson<All> extends true ? All : never) : never;
type BodyOf<Type, Body, Status> =
  IsJson<Type> extends true ? Repeated<InReply<Body>, Status> | JsonText<InReply<Body>> : RawBody;

export type Responses<Id extends OperationId> = operations[Id]['responses'];
type AnswerTo<Status, Response> = Response extends { headers: infer Headers }
  ? { status: Status } & WithBody<Response, Status> & WithHeaders<Declared<Headers>> & WithNext<Headers>
  : never;

/** The digits that `StatusIn` needs to expand a key such as `4XX` to the statuses 400 to 499. */
type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;
export type StatusIn<Key> = Key extends `${infer Class}XX`
  ? `${Class}${Digit}${Digit}` extends `${infer Status extends number}`
    ? Status
    : never
  : Key & number;
type RangeOf<Status> = Status extends number
  ? `${Status}` extends `${infer Class}${Digit}${Digit}`
    ? `${Class}XX`
    : never
  : never;
type ResponseTo<Id extends OperationId, Status> = Responses<Id>[(Status extends keyof Responses<Id>
  ? Status
  : RangeOf<Status>) &
  keyof Responses<Id>];
/**
 * The declared reply for an error of `refuse`. Only for such an error, a handler may use a status that is covered by
 * `default` alone.
 */
type ErrorTo<Id extends OperationId, Status> = [ResponseTo<Id, Status>] extends [never]
  ? Responses<Id>['default' & keyof Responses<Id>]
  : ResponseTo<Id, Status>;

/**
 * The answers that the contract declares for an operation: every answer consists of a status, and the body and headers
 * that are declared for this status.
 */
export type AnswerOf<Id extends OperationId> = {
  [Key in Exclude<keyof Responses<Id>, 'default'>]: AnswerTo<
    Key extends number ? Key : Exclude<StatusIn<Key>, keyof Responses<Id>>,
    Responses<Id>[Key]
  >;
}[Exclude<keyof Responses<Id>, 'default'>];

/** The mistake in an answer, as text for the compiler's message. `never` if the answer is correct. */
type FaultOf<Id extends OperationId, Given> = Given extends { status: infer Status extends number }
  ? FaultAt<Id, Given, Status>
  : 'an answer has a status, as a literal number';
type FaultAt<Id extends OperationId, Given, Status> = Status extends number
  ? IsError<Given> extends true
    ? FaultWith<WithoutBody<Given>, WithoutBody<AnswerTo<Status, ErrorTo<Id, Status>>>, Status>
    : FaultWith<Given, AnswerTo<Status, ResponseTo<Id, Status>>, Status>
  : never;
type FaultWith<Given, Declared, Status extends number> = [Declared] extends [never]
  ? `the contract declares no status ${Status}`
  : FaultIn<
      {
        [Key in keyof Given]: Key extends 'status'
          ? Status
          : Key extends 'headers'
            ? WithConstants<Given[Key], ValueOf<Declared, 'headers'>>
            : Given[Key];
      },
      Frozen<OfType<Declared, Given>>,
      `${Status}`
    >;

/**
 * The types of an answer's headers. If the headers are in a variable, TypeScript widens the type of `{ 'Cache-Control':
 * 'no-store' }` to `string`. So for a header with only one allowed value, the wider type is accepted, and the server
 * checks the value.
 */
type WithConstants<Given, Headers> = {
  [Name in keyof Given]: IsAny<Given[Name]> extends true ? Given[Name] : Narrowed<Given[Name], ValueOf<Headers, Name>>;
};
type Narrowed<Given, Value> = Given extends string | number
  ? IsConstant<Exclude<Value, undefined>, Given> extends true
    ? Exclude<Value, undefined>
    : Given
  : Given;
/** True if the contract allows only one value, and this value is of the type `Wide`. */
type IsConstant<Value, Wide, All = Value> = [Value] extends [never]
  ? false
  : Value extends Wide
    ? [All] extends [Value]
      ? true
      : false
    : false;
type IsAny<Given> = 0 extends 1 & Given ? true : false;

/**
 * True if `refuse` made the body of the answer, so that the engine makes the body in the contract's form. Excludes
 * `any` and `never`, which would match every type.
 */
type IsError<Given> = Given extends { body: infer Body }
  ? 0 extends 1 & Body
    ? false
    : [Body] extends [never]
      ? false
      : [Body] extends [ErrorParts<ErrorCode>]
        ? true
        : false
  : false;
type WithoutBody<Answer> = { [Key in keyof Answer as Exclude<Key, 'body'>]: Answer[Key] };

/**
 * The declared answers with the media type that the given answer names; all declared answers if none has this media
 * type. If the given answer does not name a media type, the declared answers that need not name one.
 */
type OfType<Answer, Given> = Given extends { type: infer Type }
  ? [Extract<Answer, { type: Type }>] extends [never]
    ? Answer
    : Extract<Answer, { type: Type }>
  : Exclude<Answer, { type: unknown }>;

/** How deep `FaultIn` searches. The depth is limited because types may refer to themselves. */
type Levels = [1, 2, 3, 4, 5, 6, 7, 8];

/**
 * Finds mistakes that TypeScript itself would accept: undeclared fields, and values of the type `any`. `Path` is the
 * path of `Given` in the answer, for the message.
 */
type FaultIn<Given, Allowed, Path extends string, Left extends unknown[] = Levels> = 0 extends 1 & Given
  ? `${Path} is any, which may be anything`
  : unknown extends Allowed
    ? never
    : Given extends JsonText<infer Inside>
      ? FaultIn<Inside, InsideOf<Allowed>, Path, Left>
      : Given extends Whole<infer Shown>
        ? FaultIn<Shown, Allowed, Path, Left>
        : Given extends RawBody | number | bigint | boolean | string | null | undefined
          ? Given extends Allowed
            ? never
            : `${Path} has another type than in the contract`
          : [KindOf<Given>] extends [KindOf<Exclude<Allowed, JsonText<unknown> | null | undefined>>]
            ? Left extends [unknown, ...infer Less]
              ? FaultInside<Given, Exclude<Allowed, JsonText<unknown>>, Path, Less>
              : never
            : `${Path} has another type than in the contract`;
/**
 * Reports mistakes in fields and items rather than a mistake of the whole value, because messages about fields are more
 * exact.
 */
type FaultInside<Given, Allowed, Path extends string, Left extends unknown[]> =
  FaultInParts<Given, Allowed, Path, Left> extends infer Found
    ? [Found] extends [never]
      ? Given extends Allowed
        ? never
        : Missing<Exclude<RequiredOf<Allowed>, keyof Given>, Path, Given, Allowed>
      : Found
    : never;
type FaultInParts<Given, Allowed, Path extends string, Left extends unknown[]> = Given extends readonly (infer Item)[]
  ? FaultIn<Item, ItemOf<Allowed>, `${Path}[]`, Left>
  : {
      [Key in keyof Given]-?: Key extends KeyOf<Allowed>
        ? FaultIn<Given[Key], ValueOf<Allowed, Key>, `${Path}.${Key & (string | number)}`, Left>
        : `${Path}.${Key & (string | number)} is not in the contract`;
    }[keyof Given];
type Missing<Key, Path extends string, Given, Allowed> = [Key] extends [never]
  ? `${Path}${Unfit<OddField<Given, Allowed>>}`
  : `${Path}.${Key extends 'headers' ? NamedHeaders<ValueOf<Allowed, 'headers'>> : Key & (string | number)} is missing`;
type Unfit<Field> = [Field] extends [never]
  ? ' is not what the contract says'
  : `.${Field & (string | number)} has another type than in the contract`;
/**
 * The names of the fields with a value that does not fit the declared type. The value of an optional field must not be
 * undefined, although the field may be omitted. `never` for arrays.
 */
type OddField<Given, Allowed> = Given extends readonly unknown[]
  ? never
  : {
      [Key in keyof Given & keyof Allowed]-?: Pick<Given, Key> extends Pick<Allowed, Key> ? never : Key;
    }[keyof Given & keyof Allowed];
/**
 * Names the required headers, such as `headers.Location`. If a field of a body is called `headers`, its fields are
 * named in the same way.
 */
type NamedHeaders<Headers> = [RequiredOf<Headers> & string] extends [never]
  ? 'headers'
  : `headers.${RequiredOf<Headers> & string}`;
/** The names of the fields that all alternatives of a union require. `never` for arrays. */
type RequiredOf<T> = [T] extends [readonly unknown[]]
  ? never
  : { [Key in keyof T]-?: Record<never, never> extends Pick<T, Key> ? never : Key }[keyof T];

/**
 * The declared type, with all arrays read-only. The read-only form is needed because the compiler infers a handler's
 * answer as a constant with read-only arrays and with literals for all texts.
 */
type Frozen<T> = T extends JsonText<unknown> | RawBody
  ? T
  : T extends readonly unknown[]
    ? number extends T['length']
      ? readonly Frozen<T[number]>[]
      : { readonly [Index in keyof T]: Frozen<T[Index]> }
    : T extends object
      ? { [Key in keyof T]: Frozen<T[Key]> } & object
      : T;
type InsideOf<Allowed> = Allowed extends JsonText<infer Inside> ? Inside : never;
type KindOf<T> = T extends RawBody ? 'passed on' : T extends readonly unknown[] ? 'list' : 'object';
type ItemOf<Allowed> = Allowed extends readonly (infer Item)[] ? Item : never;
type KeyOf<T> = T extends unknown ? keyof T : never;
type ValueOf<T, Key> = T extends unknown ? (Key extends keyof T ? T[Key] : never) : never;

/** The type that a wrong answer would need. The compiler's message contains this type, and so names the mistake. */
interface UnfitAnswer<Fault> {
  readonly refused: Fault;
}

/**
 * The constraint of an answer's type, which accepts every answer with a status, so that `Judged` can report the mistake
 * with a better message.
 */
interface AnyStatus {
  status: number;
}

declare const open: unique symbol;
/**
 * A mark in the constraint of `Given`. Because of the mark, the compiler first infers the handler's answer, and only
 * then checks the constraint.
 */
interface NotYetKnown extends AnyStatus {
  [open]: true;
}

type Judged<Id extends OperationId, Given> = 0 extends 1 & Given
  ? UnfitAnswer<`${Id}: an answer is any, which may be anything`>
  : [Extract<Given, NotYetKnown>] extends [never]
    ? [FaultOf<Id, Given>] extends [never]
      ? unknown
      : UnfitAnswer<`${Id}: ${FaultOf<Id, Given> & string}`>
    : unknown;

/** The argument of a handler, without the types of its operation. */
export type AnyContext = Context<unknown, unknown, unknown, AnyCaller | undefined> & {
  contentType: string | undefined;
  body: unknown;
  accepts: <Type extends string>(...types: Type[]) => Type | undefined;
};
export type AnyHandler = (call: AnyContext) => Awaitable<AnyAnswer>;

/** A handler, with the id of its operation. */
export interface Handler<Id extends OperationId> extends AnyHandler {
  readonly operation: Id;
}

/**
 * Makes the handler of an operation. A status, body, header or field that the contract does not declare is a compile
 * error.
 */
export function handle<Id extends OperationId, const Given extends AnswerOf<Id> | AnyStatus | NotYetKnown>(
  operation: Id & Judged<Id, Given>,
  run: (call: HandlerContext<Id>) => Promise<Given>,
): Handler<Id> {
  return Object.assign(run as unknown as AnyHandler, { operation });
}
