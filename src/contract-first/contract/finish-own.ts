/** Checks and finishes the contract of a service, as the build does. */
import { ContractError } from '../engine/contract/contract.ts';
import type { FinishedFile } from '../engine/contract/finished.ts';
import type { OwnParts } from '../engine/routes/compiled-operations.ts';
import { describeUnmatched } from '../engine/routes/unmatched.ts';
import { checkOperations } from './checks/checked-operations.ts';
import { finish } from './finish.ts';
import { withPlaces } from './located.ts';
import { loadContract } from './read/load-contract.ts';

/** @throws ContractError whose problems have their places in the file */
export async function finishOwn(file: URL, own: OwnParts & { handlers: object }): Promise<FinishedFile> {
  try {
    const contract = await loadContract(file);
    const unmatched = describeUnmatched([...contract.operations.keys()], Object.keys(own.handlers));
    if (unmatched.length > 0) throw new ContractError(unmatched);
    checkOperations(contract, own);
    const finished = finish(contract, own.domain);
    return finished;
  } catch (error) {
    throw withPlaces(error, file);
  }
}
