/** The types of the contract that the server is built from. */
import { toPrintable } from '../../json/literals.ts';
import { OperatorError } from '../../operator-error.ts';
import type { Int64Map } from '../schema/int64-map.ts';
import type { ContractProblem, Schema } from '../schema/json.ts';
import type { Document, EncodingNode, HeaderNode, ResolvedDocument } from './document.ts';
import type { FirstRequest } from './first-request.ts';

/**
 * The way a value is written. A simple value is one text. An array is `a=1&a=2`, or `a=1,2` with one of three separators. An object is
 * `a[b]=1` or `b=1`. Any value may be JSON.
 */
export type ParameterStyle = 'text' | 'repeated' | 'joined' | 'spaced' | 'piped' | 'deep' | 'fields' | 'json';

/**
 * The separators of arrays in the query, such as `?ids=1,2`, in the form that clients send and in the form that arrives. A comma in an item
 * is percent-encoded (RFC 6570, section 3.2.8), so items are split first. Spaces and pipes in items are always percent-encoded.
 */
export const SEPARATORS: Partial<Record<ParameterStyle, { sent: string; arrived: RegExp }>> = {
  joined: { sent: ',', arrived: /,/ },
  spaced: { sent: '%20', arrived: /%20|\+/ },
  piped: { sent: '%7C', arrived: /%7C|\|/i },
};

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: Schema;
  int64s: Int64Map;
  writing: ParameterStyle;
  /** Whether only the server makes values of the parameter, and clients pass them back unchanged (`x-opaque`). */
  isOpaque: boolean;
  /** The hours that an `Idempotency-Key` is remembered: `x-idempotency-hours`, or 24. Undefined for other parameters. */
  keptHours: number | undefined;
}

/** The deprecation of an operation. */
export interface Deprecation {
  /** When the operation was deprecated. */
  at: Date | undefined;
  /** When the operation will be removed. */
  sunset: Date | undefined;
  /** The operationId of the replacement. */
  successor: string | undefined;
}

export interface Body {
  /** Whether the body is required. */
  required: boolean;
  /** The size limit, in bytes. */
  maxBytes: number | undefined;
  /** The content of each media type. */
  contents: Content[];
}

export interface Content {
  /** The media type, in lower case: `application/merge-patch+json`. */
  type: string;
  /** The way the body is read. JSON is checked as a whole, a form part by part, and other bodies are streamed as bytes. */
  kind: 'json' | 'form' | 'bytes';
  schema: Schema;
  /** The encoding of a form's fields, by name. */
  encoding?: Record<string, EncodingNode> | undefined;
}

export interface Reply {
  /** The key in the contract: `200`, `4XX`, `default`. */
  status: string;
  /** The media type, in lower case; JSON if none is declared. */
  type: string;
  /** Whether the contract declares the body. */
  hasContent: boolean;
  /** Whether the body is JSON, which the server checks and writes. Other bodies are sent as the handler returns them. */
  isJson: boolean;
  schema: Schema;
  int64s: Int64Map;
  /** The headers by their names in the contract. */
  headers: Record<string, HeaderNode>;
  /** The reply in its other media types, which a handler may choose. */
  others: Reply[];
}

/**
 * The location of a client's key: as a bearer token (RFC 6750); as the password or the user name of basic authentication (RFC 7617); or
 * as the value of a header, a query parameter or a cookie.
 */
export interface KeyLocation {
  in: 'bearer' | 'basic' | 'header' | 'query' | 'cookie';
  /** The name of the header, parameter or cookie. */
  name: string;
  /** Whether the key is a third-party token that the team checks. */
  isToken?: true;
}

/** A key that a request must send at this location, with all of these scopes. */
export interface NeededKey {
  location: KeyLocation;
  scopes: string[];
}

/** A security requirement. */
export interface Requirement extends NeededKey {
  /** Further keys that the request must also send, at other locations. */
  alsoNeeded: NeededKey[];
}

export interface Operation {
  id: string;
  /** In upper case: `GET`. */
  method: string;
  /** The path in the contract, below the prefix: `/items/{itemId}`. */
  path: string;
  parameters: Parameter[];
  body: Body | undefined;
  replies: Reply[];
  /** The security requirements. A request must meet one of them; the list is empty if no key is needed. */
  security: Requirement[];
  /** Whether the operation may also be called without a key. */
  isKeyOptional: boolean;
  deprecation: Deprecation | undefined;
}

/** The parts of a contract that are read from its file. */
export interface AnyContract {
  /** The file, byte for byte. */
  yaml: Buffer;
  /** The contract as JSON, with every digit. */
  json: string;
  /** The position of the list of servers in the text of `yaml`; an empty range if it could be inserted there; undefined if it cannot be replaced. */
  serversAt?: [start: number, end: number] | undefined;
  /** SHA-256 of `json`. */
  digest: string;
  /** The contract as an object, with its references. */
  document: Document;
  /** The contract with every reference replaced by its target. */
  resolved: ResolvedDocument;
  title: string;
  /** The start of every path: `/v1`; may be empty. */
  prefix: string;
  /** The path that a proxy strips, and that comes before the prefix: `/shop`. Empty if no proxy strips a path. */
  publicPath: string;
  /** The locations of the keys of all security schemes. */
  keyLocations: KeyLocation[];
  operations: Map<string, Operation>;
}

/** A contract as the build reads it from its file, before it has checked that the server can serve it. */
export interface ReadContract extends AnyContract {
  /** True in the lint, which also reports constructs that otherwise count as annotations. */
  isStrict?: boolean;
}

/** The schemas of a collection's records. */
export interface RecordSchemas {
  /** A record as clients see it: the contract's schema, or the schema of the columns if the collection has none. */
  shown: Schema;
  /** The internal columns, as one object. */
  internal?: Schema | undefined;
}

type LoadPage = () => Promise<Buffer>;

/** A finished contract, which the build has checked. */
export interface Contract extends AnyContract {
  /** The document for fastify-openapi-glue. */
  glueDocument: Document;
  /** The security schemes with third-party tokens only. */
  tokenSchemes: string[];
  /** The schemas that every stored record must fit, by collection. */
  records: Readonly<Record<string, RecordSchemas>>;
  /** The reference page, compressed by brotli. The build has made the page; if the service runs from its sources, the start makes it. */
  loadPage: LoadPage;
  /**
   * For each collection, the schemas of replies that every stored record, or every list of records, fits. For these replies, stored text is
   * sent without a check.
   */
  proven: Readonly<Record<string, Schema[]>>;
  /** A request that works. Undefined if the build found none, or if the service runs from its sources. */
  firstRequest?: FirstRequest | undefined;
}

/** The error of a contract that the server cannot serve. The message lists every problem in one line with its place. */
export class ContractError extends OperatorError {
  override name = 'ContractError';
  /** The texts of the problems. */
  readonly problems: string[];
  readonly found: readonly ContractProblem[];

  constructor(found: readonly (ContractProblem | string)[]) {
    const all = found.map((one) => (typeof one === 'string' ? { words: one } : one));
    const problems = all.map(({ words }) => words);
    super(`The contract cannot be served:\n${problems.map((problem) => `  - ${toPrintable(problem)}`).join('\n')}`);
    this.problems = problems;
    this.found = all;
  }
}

/** Tokens of OAuth 2 and OpenID Connect are sent as bearer tokens (RFC 6750). */
export const BEARER: KeyLocation = { in: 'bearer', name: 'Authorization' };
