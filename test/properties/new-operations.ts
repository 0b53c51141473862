/** Operations with features that the pet store's contract does not use, their handlers, and a service with both. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { parse } from 'yaml';
import { loadContract } from '../../src/contract-first/contract/read/load-contract.ts';
import { handlersFor, type Service, startService } from '../service.ts';
import { CONTRACT, type Json, readOperations } from './operations.ts';
import type { Property } from './property.ts';
import { requestProperties } from './request-properties.ts';

export type Handle = (call: Json) => Json;

const { paths, components } = parse(readFileSync(new URL('./new-operations.yaml', import.meta.url), 'utf8'));

const NEW_HANDLERS: Record<string, Handle> = {
  addPicture: async ({ body }) => {
    const parts = [];
    for await (const part of body) parts.push(part);
    return { status: 200, body: Buffer.from(`${parts.length}`) };
  },
  arrangeShelf: ({ params }) => ({ status: 200, body: { code: params.code } }),
  'change-shelf': ({ body }) => ({ status: 200, body: { size: body.size ?? 0n } }),
  greet: () => ({ status: 200, body: 'Hello!' }),
  clearShelf: () => ({ status: 204 }),
  sendParcel: ({ body }) => ({ status: 200, body: { weight: body.weight } }),
  packBox: ({ body }) => ({ status: 200, body: packed(body) }),
};

/** Returns a box as a reply shows it: with the read-only fields, and without the write-only ones. */
function packed({ secret, inside, ...box }: Json): Json {
  return { ...box, id: 1n, ...(inside && { inside: inside.map(packed) }) };
}

/** Adds the new operations to a contract. */
export function withNewOperations(contract: Json): Json {
  const schemas = { ...contract.components.schemas, ...components.schemas };
  return {
    ...contract,
    paths: { ...contract.paths, ...structuredClone(paths) },
    components: { ...contract.components, schemas },
  };
}

/** The pet store's contract with the new operations. */
const GROWN = JSON.stringify(withNewOperations(parse(CONTRACT)));
export const NEW_IDS = Object.keys(NEW_HANDLERS);

/** Starts the service with the new operations. `handlers` replace their handlers. */
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

/** Runs the properties of an operation, each with this many cases. Returns the first failure. */
export async function findFailure(properties: Property[], id: string, runs = 10): Promise<string | undefined> {
  for (const property of properties.filter(({ name }) => name.startsWith(id))) {
    const failure = await property.run({ seed: 1, runs });
    if (failure !== undefined) return failure;
  }
}
