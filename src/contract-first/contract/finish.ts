/** Finishes a contract: writes everything that the server needs of it. */
import { ContractError, type Operation, type ReadContract, type Reply } from '../engine/contract/contract.ts';
import {
  type Facts,
  type FinishedFile,
  FORMAT,
  sha256Of,
  type WrittenOperation,
  type WrittenReply,
} from '../engine/contract/finished.ts';
import { describeUnmatched, type OwnParts } from '../engine/routes/compiled-operations.ts';
import type { AnyDomain } from '../store/description.ts';
import { checkOperations } from './checks/checked-operations.ts';
import { findProven } from './checks/stored-replies.ts';
import { toGlueDocument } from './glue-document.ts';
import { withLocations } from './located-problems.ts';
import { loadContract } from './read/load-contract.ts';
import { toTokenSchemes } from './read/security.ts';
import { toRecords } from './records.ts';
import { writeGraph } from './written-graph.ts';

/** Takes a contract that was checked. */
export function finish(contract: ReadContract, domain: AnyDomain): FinishedFile {
  const { yaml, json, serversAt, digest, document, resolved, title, prefix, keyPlaces, operations } = contract;
  const records = toRecords(contract, domain);
  const facts: Facts = {
    ...{ document, resolved, title, prefix, keyPlaces, records },
    glueDocument: toGlueDocument(contract),
    tokenSchemes: toTokenSchemes(resolved),
    operations: [...operations.values()].map(toWritten),
    proven: findProven(operations, records, domain),
  };
  return { format: FORMAT, sha256: sha256Of(yaml), digest, json, serversAt, facts: writeGraph(facts) };
}

function toWritten({ parameters, replies, deprecation, ...others }: Operation): WrittenOperation {
  return {
    ...others,
    parameters: parameters.map(({ int64s: _, ...parameter }) => parameter),
    replies: replies.map(toWrittenReply),
    deprecation: deprecation && JSON.parse(JSON.stringify(deprecation)),
  };
}

function toWrittenReply({ int64s: _, others, ...reply }: Reply): WrittenReply {
  return { ...reply, others: others.map(toWrittenReply) };
}

/** The build writes both of a contract. */
export interface FinishedFiles {
  file: FinishedFile;
  /** The contract as it is served. */
  yaml: Buffer;
}

/** Checks and finishes the contract of a service, as the build does. @throws ContractError whose problems have their locations in the files */
export async function finishOwn(file: URL, own: OwnParts & { handlers: object }): Promise<FinishedFiles> {
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
