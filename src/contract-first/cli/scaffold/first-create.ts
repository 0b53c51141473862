/** Writes the commands that start a new service with its own key and create its first record. */
import type { AnyContract, Operation } from '../../engine/contract/contract.ts';
import { toFirstCurl } from '../../engine/contract/first-request.ts';
import { makeKey } from '../../store/api-keys.ts';
import { buildSampleRequests } from '../sandbox/sample-requests.ts';
import type { WrittenCollection } from './collection-files.ts';

/** The default address of a service. */
const ORIGIN = 'http://127.0.0.1:3000';

/**
 * Writes the commands. `tested` contains the collections with tests that have created a record. Returns an empty text if all of their
 * records need a parent.
 */
export function writeFirstRequest(contract: AnyContract, tested: WrittenCollection[]): string {
  const first = tested.find(({ plan, createId }) => plan.parent === undefined && createId !== undefined);
  if (!first) return '';
  const key = makeKey('first');
  const request = buildSampleRequests(contract, key).toRequest(
    contract.operations.get(first.createId as string) as Operation,
  );
  const curl = toFirstCurl(request, ORIGIN, key);
  const [start, command] = curl.includes(key)
    ? ['start it with a key', `  API_KEYS=${key} npm start\n\n`]
    : ['start it with npm start', ''];
  return `

To create a record, ${start}, and paste the request into another terminal:

${command}  ${curl}`;
}
