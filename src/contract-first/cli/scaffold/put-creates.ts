/** Finds the resources whose records a PUT creates. */
import type { Operation } from '../../engine/contract/contract.ts';
import { namesIn } from '../../engine/contract/path-names.ts';
import { wordsOf } from './envelopes.ts';
import { idsIn } from './resource-paths.ts';
import type { Resource } from './resources.ts';

/** Whether the contract declares that an operation creates what it is about. */
export const declaresCreated = ({ replies }: Operation): boolean => replies.some(({ status }) => status === '201');

/** Returns the resource with its PUT as the create, if nothing else creates its records, and the PUT may. */
export function withPut(resource: Resource, isAssuming: boolean): Resource {
  const { replace, ...others } = Object.fromEntries(resource.operations) as Record<string, Operation>;
  if (!replace || others.create || idsIn(replace, resource).own === undefined) return resource;
  const isCertain = declaresCreated(replace) || !replace.body;
  const isPossible = isAssuming && !replace.replies.some(({ status }) => status === '404');
  // The ids below another id may be unique only there.
  if (!(isCertain || isPossible) || namesIn(replace.path).length > 1) return resource;
  const operations = new Map(resource.operations);
  operations.delete('replace');
  return { ...resource, operations: operations.set('create', replace), isPut: true };
}

/** Whether a single object without an id in its path may be another one for each caller, by the words of its path. */
export const isOfCaller = ({ isSingle, path }: Resource): boolean =>
  isSingle === true && namesIn(path).length === 0 && wordsOf(path).some((word) => OF_CALLER.test(word));

const OF_CALLER = /^(me|my|self|user|account|profile|current)$/;
