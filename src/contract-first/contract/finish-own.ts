/** Checks and finishes the contract of a service, as the build does. */
import { ContractError } from '../engine/contract/contract.ts';
import type { FinishedFile } from '../engine/contract/finished.ts';
import type { OwnParts } from '../engine/routes/compiled-operations.ts';
import { describeUnmatched } from '../engine/routes/unmatched.ts';
import { checkOperations } from './checks/checked-operations.ts';
import { finish } from './finish.ts';
import { withLocations } from './located.ts';
import { loadContract } from './read/load-contract.ts';

export interface Finished {
  file: FinishedFile;
  /** The contract as it is served. */
  yaml: Buffer;
}

/** @throws ContractError whose problems have their locations in the files */
export async function finishOwn(file: URL, own: OwnParts & { handlers: object }): Promise<Finished> {
  try {
    const contract = await loadContract(file);
    const unmatched = describeUnmatched([...contract.operations.keys()], Object.keys(own.handlers));
    if (unmatched.length > 0) throw new ContractError(unmatched);
    checkOperations(contract, own);
    return { file: finish(contract, own.domain), yaml: contract.yaml };
  } catch (error) {
    throw await withLocations(error, file);
  }
}
