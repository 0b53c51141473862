/** The types of the contract that the server is built from. The build makes such a contract from the YAML. */
import { toPrintable } from '../../json/literals.ts';
import { OperatorError } from '../../operator-error.ts';
import type { Int64Map } from '../schema/int64-map.ts';
import type { ContractProblem, Schema } from '../schema/json.ts';
import type { Document, EncodingNode, HeaderNode, ResolvedDocument } from './document.ts';
import type { FirstRequest } from './first-request.ts';

/**
 * How a parameter's value is written in the request. Single values are `text`. Arrays are `repeated` (`a=1&a=2`), or
 * one text with separators: `joined` (`a=1,2`), `spaced` or `piped`. Objects are `deep` (`a[b]=1`) or `fields` (`b=1`).
 * Any value may be `json`.
 */
export type ParameterStyle = 'text' | 'repeated' | 'joined' | 'spaced' | 'piped' | 'deep' | 'fields' | 'json';

/**
 * The separators of arrays in the query, such as the comma in `?ids=1,2`. `sent` is written in the server's links;
 * `arrived` matches the separators that clients send. The text is split before its items are decoded, so that an item
 * may contain a percent-encoded comma (RFC 6570, section 3.2.8). If the separator is a space or a pipe, items cannot
 * contain this character, because the separator itself is percent-encoded.
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
  /**
   * True if clients do not write values of this parameter themselves, but only send values that the server has made,
   * such as cursors (`x-opaque`).
   */
  isOpaque: boolean;
  /**
   * How many hours the store remembers an `Idempotency-Key`: the value of `x-idempotency-hours`, or 24. Undefined for
   * other parameters.
   */
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
  /** Whether a body is required. */
  required: boolean;
  /** The largest size of the body, in bytes. */
  maxBytes: number | undefined;
  /** The content of each media type. */
  contents: Content[];
}

export interface Content {
  /** The media type, in lower case: `application/merge-patch+json`. */
  type: string;
  /**
   * How the body is read: `json` is checked as a whole, `form` field by field, and `bytes` are streamed to the handler.
   */
  kind: 'json' | 'form' | 'bytes';
  schema: Schema;
  /** The Encoding Objects of a form's fields, by the name of the field. */
  encoding?: Record<string, EncodingNode> | undefined;
}

export interface Reply {
  /** The key of the reply in the contract: a status such as `200`, a range such as `4XX`, or `default`. */
  status: string;
  /** The media type, in lower case; JSON if none is declared. */
  type: string;
  /** Whether the contract declares a body for the reply. */
  hasContent: boolean;
  /**
   * Whether the body is JSON, which the server checks and writes. Other bodies are sent as the handler returns them.
   */
  isJson: boolean;
  schema: Schema;
  int64s: Int64Map;
  /** The declared headers, by their names in the contract. */
  headers: Record<string, HeaderNode>;
  /** The reply in its other media types, which a handler may choose. */
  others: Reply[];
}

/**
 * Where clients send a key: as a bearer token (RFC 6750); as the password or the user name of basic authentication (RFC
 * 7617); or as the value of a header, a query parameter or a cookie.
 */
export interface KeyLocation {
  in: 'bearer' | 'basic' | 'header' | 'query' | 'cookie';
  /** The name of the header, parameter or cookie. */
  name: string;
  /** Whether the key is a token from another issuer, which the team's `verifyToken` checks. */
  isToken?: true;
}

/** A key that a request must send at this location. The owner of the key needs all of these scopes. */
export interface NeededKey {
  location: KeyLocation;
  scopes: string[];
}

/** A security requirement: a request must send all of its keys. */
export interface Requirement extends NeededKey {
  /** Further keys that the request must send, at other locations. */
  alsoNeeded: NeededKey[];
}

export interface Operation {
  id: string;
  /** The HTTP method in upper case, such as `GET`. */
  method: string;
  /** The path in the contract, below the prefix: `/items/{itemId}`. */
  path: string;
  parameters: Parameter[];
  body: Body | undefined;
  replies: Reply[];
  /** The alternative security requirements; a request must meet one of them. Empty if the operation needs no key. */
  security: Requirement[];
  /** Whether the operation may also be called without a key. */
  isKeyOptional: boolean;
  deprecation: Deprecation | undefined;
}

/** The properties of a contract that the build reads from its file. */
export interface AnyContract {
  /** The bytes of the YAML file. */
  yaml: Buffer;
  /** The contract as JSON, with every digit of its numbers. */
  json: string;
  /**
   * Where the list of `servers` is in the text of `yaml`, as offsets. Without such a list, the range is empty, at a
   * position where a list can be inserted. Undefined if the list can be neither replaced nor inserted.
   */
  serversAt?: [start: number, end: number] | undefined;
  /** The SHA-256 of `json`. */
  digest: string;
  /** The contract as an object. References are not replaced. */
  document: Document;
  /** The contract with every reference replaced by its target. */
  resolved: ResolvedDocument;
  title: string;
  /** The path before the paths of all operations, such as `/v1`; may be empty. */
  prefix: string;
  /** The path that a proxy strips, and that comes before the prefix: `/shop`. Empty if no proxy strips a path. */
  publicPath: string;
  /** The locations of the keys of all security schemes. */
  keyLocations: KeyLocation[];
  operations: Map<string, Operation>;
}

/** A contract that the build has read from its file, but not yet checked. */
export interface ReadContract extends AnyContract {
  /**
   * True if the contract is linted: unknown keywords and formats are then reported as problems. If false, they are
   * treated as annotations.
   */
  isStrict?: boolean;
}

/** The schemas of a collection's records. */
export interface RecordSchemas {
  /** The schema of a record as clients see it. If the contract declares no such schema, it is made from the columns. */
  shown: Schema;
  /** The schema of an object with the internal columns. */
  internal?: Schema | undefined;
}

type LoadPage = () => Promise<Buffer>;

/** A finished contract, which the build has checked. */
export interface Contract extends AnyContract {
  /** The document that is passed to fastify-openapi-glue. */
  glueDocument: Document;
  /** The names of the security schemes for tokens of other issuers. */
  tokenSchemes: string[];
  /** The schemas that every stored record must fit, by collection. */
  records: Readonly<Record<string, RecordSchemas>>;
  /**
   * Loads the reference page, compressed with brotli. The page is made by the build, or at the start if the service
   * runs from its sources.
   */
  loadPage: LoadPage;
  /**
   * Maps each collection to the reply schemas that all its stored records, or lists of these records, are proven to
   * fit. In replies with these schemas, text from the store is sent without a check.
   */
  proven: Readonly<Record<string, Schema[]>>;
  /** An example request that succeeds. Undefined if the build found none, or if the service runs from its sources. */
  firstRequest?: FirstRequest | undefined;
}

/**
 * Thrown for a contract that the server cannot serve. The message contains one line for each problem, with the faulty
 * node of the contract.
 */
export class ContractError extends OperatorError {
  override name = 'ContractError';
  /** The text of each problem in `found`. */
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

/** Where clients send tokens of OAuth 2 and OpenID Connect: as bearer tokens (RFC 6750). */
export const BEARER: KeyLocation = { in: 'bearer', name: 'Authorization' };
