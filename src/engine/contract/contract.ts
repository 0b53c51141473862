/** The contract as the server is wired from it. */
import { OperatorError } from '../../operator-error.ts';
import type { Int64Map } from '../schema/int64-map.ts';
import type { Schema } from '../schema/json.ts';
import type { Document, EncodingNode, HeaderNode, ResolvedDocument } from './document.ts';

/** How a value is written: as one text; an array as `a=1&a=2` or `a=1,2`; an object as `a[b]=1` or as `b=1`; or any value as JSON. */
export type Writing = 'text' | 'repeated' | 'joined' | 'deep' | 'fields' | 'json';

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: Schema;
  int64s: Int64Map;
  writing: Writing;
  /** Its values are given out by the server, never made up by a client: `x-opaque`. */
  isOpaque: boolean;
  /** For how many hours an `Idempotency-Key` is known: `x-kept-hours`; undefined for any other parameter. */
  keptHours: number | undefined;
}

/** Each part may be unknown. */
export interface Deprecation {
  /** When the operation was deprecated. */
  at: Date | undefined;
  /** When it will be removed. */
  sunset: Date | undefined;
  /** The operationId of what to use instead. */
  successor: string | undefined;
}

export interface Body {
  /** Whether there must be one. */
  required: boolean;
  /** The largest in bytes. */
  maxBytes: number | undefined;
  /** One for each media type. */
  contents: Content[];
}

export interface Content {
  /** Its media type, in lower case: `application/merge-patch+json`. */
  type: string;
  /** JSON is checked as a whole, a form part by part; all else is passed on as bytes. */
  kind: 'json' | 'form' | 'bytes';
  schema: Schema;
  /** How fields of a form are written, by their names. */
  encoding?: Record<string, EncodingNode> | undefined;
}

export interface Reply {
  /** As the contract has it: `200`, `4XX`, `default`. */
  status: string;
  /** Its media type, in lower case; that of JSON where none is declared. */
  type: string;
  /** Whether the contract declares its body. */
  hasContent: boolean;
  /** Whether it is JSON, which is checked and written; anything else is passed on as the handler answers it. */
  isJson: boolean;
  schema: Schema;
  int64s: Int64Map;
  /** By their names as the contract has them. */
  headers: Record<string, HeaderNode>;
}

/**
 * Where a client sends its key: as a bearer token (RFC 6750), as the password of a user with any name, or as that name (RFC 7617), or
 * as the value of a header, a query parameter or a cookie.
 */
export interface KeyPlace {
  in: 'bearer' | 'basic' | 'header' | 'query' | 'cookie';
  /** Of the header or parameter. */
  name: string;
  /** Whether it is a token that others have issued, where the team checks such. */
  isToken?: true;
}

/** A way in: a key in this place, which has all of these scopes. */
export interface NeededKey {
  place: KeyPlace;
  scopes: string[];
}

/** One way in. */
export interface Requirement extends NeededKey {
  /** Keys that are needed beside this one, in other places. */
  alsoNeeded: NeededKey[];
}

export interface Operation {
  id: string;
  /** In capitals: `GET`. */
  method: string;
  /** As the contract has it, below the prefix: `/items/{itemId}`. */
  path: string;
  parameters: Parameter[];
  body: Body | undefined;
  replies: Reply[];
  /** The ways in, one of which is enough; none where no key is needed. */
  security: Requirement[];
  /** Whether it may be called without a key, too. */
  isKeyOptional: boolean;
  deprecation: Deprecation | undefined;
}

export interface Contract {
  /** The file, byte for byte. */
  yaml: Buffer;
  /** The contract as JSON, every digit kept. */
  json: string;
  /** SHA-256 of `json`. */
  digest: string;
  /** Whether `npm run generate` has found that the server can keep it. */
  isChecked: boolean;
  /** Set by the lint: what is an annotation elsewhere is refused. */
  isStrict?: boolean;
  /** The contract as an object, references in place. */
  document: Document;
  /** The contract with every reference replaced by its target. */
  resolved: ResolvedDocument;
  title: string;
  /** The start of every path: `/v1`; empty where there is none. */
  prefix: string;
  /** The path before the prefix that a proxy strips: `/petstore`; empty without such a proxy. */
  publicPath: string;
  /** The places of keys of all security schemes. */
  keyPlaces: KeyPlace[];
  operations: Map<string, Operation>;
  /** Whether it says that it declares all that the server sends (`x-complete`): then more is checked than what it needs to be served. */
  isComplete: boolean;
}

/** The contract says what the server cannot do. Lists every problem, each in one line that names its place. */
export class ContractError extends OperatorError {
  override name = 'ContractError';
  readonly problems: string[];

  constructor(problems: string[]) {
    super(`The contract cannot be served:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}
