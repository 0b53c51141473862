/** The contract as the server is wired from it. */

// biome-ignore lint/suspicious/noExplicitAny: a JSON Schema, or any other node of the contract, is any JSON.
export type Json = any;

export interface Parameter {
  name: string;
  in: 'path' | 'query';
  required: boolean;
  schema: Json;
}

export interface Deprecation {
  /** When the operation was deprecated. */
  at: Date;
  /** When it will be removed. */
  sunset: Date;
  /** The operationId of what to use instead. */
  successor: string;
}

export interface Operation {
  id: string;
  /** In capitals: `GET`. */
  method: string;
  /** As the contract has it, below the prefix: `/pets/{petId}`. */
  path: string;
  parameters: Parameter[];
  /** The largest body in bytes, the schema of the body, and whether there must be one. */
  body: { required: boolean; maxBytes: number | undefined; schema: Json } | undefined;
  /** False where the contract lifts the requirement of a key with `security: []`. */
  secured: boolean;
  deprecation: Deprecation | undefined;
}

export interface Contract {
  /** The file, byte for byte. */
  yaml: Buffer;
  /** The same as JSON, every digit kept. */
  json: string;
  /** The same as an object, references in place. */
  document: Json;
  title: string;
  /** What stands before every path: `/v1`. */
  prefix: string;
  operations: Map<string, Operation>;
}

/** The contract says what the server could not keep: every problem at once, each one line that names its place. */
export class ContractError extends Error {
  override name = 'ContractError';
  readonly problems: string[];

  constructor(problems: string[]) {
    super(`The contract cannot be served:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** Takes down a problem. */
export type Refuse = (problem: string) => void;
