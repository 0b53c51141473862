/** Finishes a contract that was checked: writes everything that the server needs of it. */
import type { Operation, ReadContract, Reply } from '../engine/contract/contract.ts';
import {
  type Facts,
  type FinishedFile,
  FORMAT,
  sha256Of,
  type WrittenOperation,
  type WrittenReply,
} from '../engine/contract/finished.ts';
import type { AnyDomain } from '../store/description.ts';
import { findProven } from './checks/stored-replies.ts';
import { toGlueDocument } from './glue-document.ts';
import { toTokenSchemes } from './read/security.ts';
import { toRecords } from './records.ts';
import { writeGraph } from './written-graph.ts';

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
