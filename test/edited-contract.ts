/** The first release of the pet store's contract, and functions to edit it. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Json } from './any-json.ts';

/**
 * The first release of the contract, which does not change with later versions. Its sunset is moved to 2999, so that
 * getPet stays available.
 */
export const SOURCE = readFileSync(new URL('../openapi/released/1.0.0.yaml', import.meta.url), 'utf8').replace(
  /(x-sunset: )"[0-9-]+"/,
  '$1"2999-12-05"',
);

/** Returns the parts of the contract that tests edit, by name. */
function partsOf(contract: Json) {
  const { paths, components } = contract;
  const [listPets, createPet, getPet] = [paths['/pets'].get, paths['/pets'].post, paths['/pets/{petId}'].get];
  const [limit, status, after] = listPets.parameters;
  const { requestBody: body, responses } = createPet;
  const errorFields = components.schemas.Error.properties;
  const operations = {
    listPets,
    createPet,
    getPet,
    limit,
    status,
    after,
    body,
    created: responses['201'],
    errorFields,
  };
  return { ...contract, ...components, ...components.schemas, ...operations, contract };
}

export type Edit = (parts: ReturnType<typeof partsOf>) => void;

const PARSED = parse(SOURCE);

/** Returns an edit that replaces the path prefix `/v1` of every server. */
export function withPrefix(prefix: string) {
  return ({ servers }: Json) => {
    for (const server of servers) server.url = server.url.replace('/v1', prefix);
  };
}

/** Returns the contract as JSON after an edit. `source` may be a contract that was edited before. */
export function edited(edit: Edit, source = SOURCE): string {
  const contract = source === SOURCE ? structuredClone(PARSED) : JSON.parse(source);
  edit(partsOf(contract));
  return JSON.stringify(contract);
}

/**
 * Renames a property without changing the order of properties, because the order of paths and methods is the order of
 * operations.
 */
export function rename(node: Json, from: string, to: string): void {
  const entries = Object.entries(node).map(([key, value]) => [key === from ? to : key, value]);
  for (const key of Object.keys(node)) delete node[key];
  Object.assign(node, Object.fromEntries(entries));
}
