/** The service with the new operations, and what fails among the properties of one. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { parse } from 'yaml';
import { loadContract } from '../../src/contract-first/contract/read/load-contract.ts';
import { handlersFor, type Service, startService } from '../service.ts';
import { type Handle, NEW_HANDLERS, withNewOperations } from './new-operations.ts';
import { CONTRACT, readOperations } from './operations.ts';
import type { Property } from './property.ts';
import { requestProperties } from './request-properties.ts';

/** The contract with the new operations. */
const GROWN = JSON.stringify(withNewOperations(parse(CONTRACT)));
export const NEW_IDS = Object.keys(NEW_HANDLERS);

/** The new operations, served by these handlers from the contract that has them. */
export async function startGrown(t: Test, handlers: Record<string, Handle> = {}): Promise<Service> {
  const file = join(t.testdir(), 'petstore.yaml');
  writeFileSync(file, GROWN);
  const contract = await loadContract(file);
  const all = { ...handlersFor(contract), ...NEW_HANDLERS, ...handlers };
  return startService(t, { contract, handlers: all, yaml: GROWN, keepAlive: true });
}

export function propertiesOf(service: Service): Property[] {
  const added = readOperations(GROWN).filter(({ id }) => NEW_IDS.includes(id));
  return requestProperties(service, added);
}

/** The first failure among the properties of an operation, each with so many cases. */
export async function findFailure(properties: Property[], id: string, runs = 10): Promise<string | undefined> {
  for (const property of properties.filter(({ name }) => name.startsWith(id))) {
    const failure = await property.run({ seed: 1, runs });
    if (failure !== undefined) return failure;
  }
}
