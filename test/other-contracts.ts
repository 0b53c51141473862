/** Third-party contracts from `test/other-contracts/`, with the changes that each one needs before it can be served. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import type { Json } from './any-json.ts';

interface Other {
  /** The expected problems, by operation. */
  refused: Record<string, RegExp>;
  /** Changes the contract so that it can be served. */
  change(contract: Json): void;
  /** The function that a team would write in `src/errors.ts`. */
  toErrorBody: (error: Json) => Json;
}

const asItIs: Other = {
  refused: {},
  change: () => {},
  toErrorBody: ({ code, message, status, problems }) => ({ code, message, status, ...(problems && { problems }) }),
};
const withStatus: Other = { ...asItIs, toErrorBody: ({ status, message }) => ({ code: status, message }) };

export const OTHERS: Record<string, Other> = {
  petstore: withStatus,
  'petstore-expanded': withStatus,
  'swagger-petstore': {
    ...asItIs,
    // Next to JSON, XML and forms with objects are not supported: such requests get 415.
    change: ({ components }) => {
      const { content } = components.requestBodies.Pet;
      components.requestBodies.Pet.content = { 'application/json': content['application/json'] };
    },
  },
  uspto: { ...asItIs, toErrorBody: ({ message }) => message },
  tictactoe: asItIs,
  link: asItIs,
  webhook: asItIs,
  'api-with-examples': asItIs,
};

/** Returns the changed contract as YAML. */
export function changed(name: string): string {
  const contract = parse(readFileSync(fileOf(name), 'utf8'));
  OTHERS[name]?.change(contract);
  return stringify(contract, { aliasDuplicateObjects: false });
}

/** Returns the path of the contract's file. */
export const fileOf = (name: string) => fileURLToPath(new URL(`./other-contracts/${name}.yaml`, import.meta.url));
