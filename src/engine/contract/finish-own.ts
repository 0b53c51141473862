/** Checks and finishes the contract of a service, as the build does. */

import { checkOperations } from '../routes/checked-operations.ts';
import type { OwnParts } from '../routes/compiled-operations.ts';
import { finish } from './finish.ts';
import type { FinishedFile } from './finished.ts';
import { loadContract } from './load-contract.ts';
import { withPlaces } from './located.ts';

/** @throws ContractError whose problems have their places in the file */
export async function finishOwn(file: URL, own: OwnParts): Promise<FinishedFile> {
  try {
    const contract = await loadContract(file);
    checkOperations(contract, own);
    const finished = finish(contract, own.domain);
    return finished;
  } catch (error) {
    throw withPlaces(error, file);
  }
}
