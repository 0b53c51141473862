/** Operations that the contract does not have, with what it may say beyond them, and their handlers. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Json } from './operations.ts';

export type Handle = (call: Json) => Json;

const { paths, components } = parse(readFileSync(new URL('./new-operations.yaml', import.meta.url), 'utf8'));

export const NEW_HANDLERS: Record<string, Handle> = {
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

/** With the fields that only replies have, without those that only requests have. */
function packed({ secret, inside, ...box }: Json): Json {
  return { ...box, id: 1n, ...(inside && { inside: inside.map(packed) }) };
}

/** The contract with them. */
export function withNewOperations(contract: Json): Json {
  const schemas = { ...contract.components.schemas, ...components.schemas };
  return {
    ...contract,
    paths: { ...contract.paths, ...structuredClone(paths) },
    components: { ...contract.components, schemas },
  };
}
