/** Checks the stored pets against the contract, which may have been edited since they were written. */
import { type Contract, ContractError } from '../contract/contract.ts';
import { buildAjv, prepare } from '../schema/ajv.ts';
import { compile } from '../schema/compilation.ts';
import { findInt64s } from '../schema/int64-places.ts';
import type { Json } from '../schema/json.ts';
import { toProblems } from '../schema/problems.ts';
import { buildResolve } from '../schema/references.ts';
import type { Pet, Store } from '../store/store.ts';

/** @throws ContractError that says how many pets could not be sent as the contract says */
export async function checkStoredPets(contract: Contract, store: Store): Promise<void> {
  let validate: ReturnType<typeof compilePet> | undefined;
  let first: string | undefined;
  const fits = (pet: Pet): boolean => {
    validate ??= compilePet(contract);
    const { id } = pet;
    if (validate(pet)) return true;
    first ??= `pet ${id}: ${toProblems(validate.errors).join('; ')}`;
    return false;
  };
  const count = await store.countMisfits(contract.digest, fits);
  if (count === 0) return;
  const advice = 'correct them, or undo the edit of the contract';
  throw new ContractError([`stored pets that do not fit its schema Pet: ${count} (${first}); ${advice}`]);
}

/** What every stored pet must fit. */
export function petSchema(contract: Contract): Json {
  const pet = { schema: { $ref: '#/components/schemas/Pet' } };
  return buildResolve(contract.document)(pet, () => {}).schema;
}

function compilePet(contract: Contract) {
  const schema = petSchema(contract);
  const int64s = findInt64s(schema, 'Pet', () => {});
  return compile(buildAjv(contract, false), prepare(schema, int64s), 'Pet', () => {});
}
