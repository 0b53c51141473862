/** Which contract is compared with which releases: ours, or those that the command line names. */
import { fileURLToPath } from 'node:url';

const CONTRACT = new URL('../../openapi/petstore.yaml', import.meta.url);
const RELEASES = new URL('../../openapi/released/', import.meta.url);

export function toFiles([contract, folder]: string[]): [contract: string, folder: string] {
  return [contract ?? fileURLToPath(CONTRACT), folder ?? fileURLToPath(RELEASES)];
}
