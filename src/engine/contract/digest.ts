/** The contract's digest. */
import { createHash } from 'node:crypto';

/** The digest of the contract as JSON: comments and layout of the YAML do not count. */
export function toDigest(json: string): string {
  return createHash('sha256').update(json).digest('hex');
}
