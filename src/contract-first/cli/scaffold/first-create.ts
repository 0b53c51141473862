/** Writes the commands to start a new service with its own key, and to create a first record. */
import type { AnyContract, Operation } from '../../engine/contract/contract.ts';
import { toFirstCurl } from '../../engine/contract/first-request.ts';
import { makeKey } from '../../store/api-keys.ts';
import { buildSampleRequests } from '../sandbox/sample-requests.ts';
import type { WrittenCollection } from './collection-files.ts';

/** The origin of a service with default settings. */
const ORIGIN = 'http://127.0.0.1:3000';

/**
 * Writes the commands. `tested` contains the collections with a test that has created a record. Returns an empty text
 * if each of these collections is below a parent, because the parent would have to be created first.
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
