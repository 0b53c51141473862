/** The first release of the contract, to be edited in tests. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

// biome-ignore lint/suspicious/noExplicitAny: a contract is any JSON
type Json = any;

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
  return {
    ...contract,
    ...components,
    ...components.schemas,
    contract,
    listPets,
    createPet,
    getPet,
    limit,
    status,
    after,
  };
}

export type Edit = (parts: ReturnType<typeof partsOf>) => void;

const PARSED = parse(SOURCE);

/** The contract after an edit. */
export function edited(edit: Edit, source = SOURCE): string {
  const contract = source === SOURCE ? structuredClone(PARSED) : parse(source);
  edit(partsOf(contract));
  return JSON.stringify(contract);
}
