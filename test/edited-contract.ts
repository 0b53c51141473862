/** The first release of the contract, to be edited in tests. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Json } from './any-json.ts';

/** The first release, which stays as it is while the contract goes on. Here, its sunset never comes. */
export const SOURCE = readFileSync(new URL('../openapi/released/1.0.0.yaml', import.meta.url), 'utf8').replace(
  /(x-sunset: )"[0-9-]+"/,
  '$1"2999-12-05"',
);

/** The parts that edits are about, by name. */
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

/** Puts every server below another prefix. */
export function withPrefix(prefix: string) {
  return ({ servers }: Json) => {
    for (const server of servers) server.url = server.url.replace('/v1', prefix);
  };
}

/** The contract after an edit, or an edited one after another, as JSON. */
export function edited(edit: Edit, source = SOURCE): string {
  const contract = source === SOURCE ? structuredClone(PARSED) : JSON.parse(source);
  edit(partsOf(contract));
  return JSON.stringify(contract);
}

/** Puts a value under another name, where it stood: the order of paths and methods says which operation comes first. */
export function rename(node: Json, from: string, to: string): void {
  const entries = Object.entries(node).map(([key, value]) => [key === from ? to : key, value]);
  for (const key of Object.keys(node)) delete node[key];
  Object.assign(node, Object.fromEntries(entries));
}
