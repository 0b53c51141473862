/** Other people's contracts, in `test/other-contracts/`, and what must be changed in each. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import type { Json } from './any-json.ts';

interface Other {
  /** The expected problems, by operation. */
  refused: Record<string, RegExp>;
  /** Changes the contract as the table says. */
  change(contract: Json): void;
  /** The function of the team's `src/errors.ts`. */
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
    // Beside JSON, XML and a form with objects are 415.
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

/** The contract after its change, as YAML. */
export function changed(name: string): string {
  const contract = parse(readFileSync(fileOf(name), 'utf8'));
  OTHERS[name]?.change(contract);
  return stringify(contract, { aliasDuplicateObjects: false });
}

/** Returns the URL of the contract file. */
export const fileOf = (name: string) => fileURLToPath(new URL(`./other-contracts/${name}.yaml`, import.meta.url));
