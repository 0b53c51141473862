/** Checks the stored pets against the contract, which may have been edited since they were written. */
import { type Contract, ContractError } from '../contract/contract.ts';
import { buildChecks, type Check } from '../schema/checks.ts';
import type { Json } from '../schema/json.ts';
import { buildResolve } from '../schema/references.ts';
import type { Pet, Store } from '../store/store.ts';

/** @throws ContractError that says how many pets could not be sent as the contract says */
export async function checkStoredPets(contract: Contract, store: Store): Promise<void> {
  let check: Check | undefined;
  let first: string | undefined;
  const fits = (pet: Pet): boolean => {
    check ??= buildChecks(contract)(petSchema(contract), { name: 'Pet' }, () => {});
    const { id } = pet;
    const problems = check(pet);
    if (!problems) return true;
    first ??= `pet ${id}: ${problems.join('; ')}`;
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
