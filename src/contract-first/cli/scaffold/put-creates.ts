/** Finds the resources with records that a PUT creates. */
import type { Operation } from '../../engine/contract/contract.ts';
import { namesIn } from '../../engine/contract/path-names.ts';
import { wordsOf } from './envelopes.ts';
import { idsIn } from './resource-paths.ts';
import type { Resource } from './resources.ts';

/** True if the contract declares 201 for an operation, the reply to a create. */
export const declaresCreated = ({ replies }: Operation): boolean => replies.some(({ status }) => status === '201');

/**
 * Makes the PUT of a resource its create, if no other operation creates the records, and if the contract allows this.
 * Otherwise returns the resource unchanged.
 */
export function withPut(resource: Resource, isAssuming: boolean): Resource {
  const { replace, ...others } = Object.fromEntries(resource.operations) as Record<string, Operation>;
  if (!replace || others.create || idsIn(replace, resource).own === undefined) return resource;
  const isCertain = declaresCreated(replace) || !replace.body;
  const isPossible = isAssuming && !replace.replies.some(({ status }) => status === '404');
  // If the path contains another id, a record's id may be unique only below that id. Then the PUT cannot be the create.
  if (!(isCertain || isPossible) || namesIn(replace.path).length > 1) return resource;
  const operations = new Map(resource.operations);
  operations.delete('replace');
  return { ...resource, operations: operations.set('create', replace), isPut: true };
}

/**
 * True if the single object at this path, such as `/me`, may differ for each caller. The path does not contain an id,
 * but a word such as `me`.
 */
export const isOfCaller = ({ isSingle, path }: Resource): boolean =>
  isSingle === true && namesIn(path).length === 0 && wordsOf(path).some((word) => OF_CALLER.test(word));

const OF_CALLER = /^(me|my|self|user|account|profile|current)$/;
