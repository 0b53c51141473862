/** Checks and finishes the contract of a service, as the build does. */

import { checkOperations } from '../routes/checked-operations.ts';
import type { OwnParts } from '../routes/compiled-operations.ts';
import { describeUnmatched } from '../routes/unmatched.ts';
import { ContractError } from './contract.ts';
import { finish } from './finish.ts';
import type { FinishedFile } from './finished.ts';
import { loadContract } from './load-contract.ts';
import { withPlaces } from './located.ts';

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
