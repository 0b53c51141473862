/**
 * Finds references to other files of a contract, and checks these files. Only a contract with such references needs the
 * bundler, which is a development dependency.
 */
import { statSync } from 'node:fs';
import { isNode } from '../../engine/schema/json.ts';
import { isData, isNames } from '../../engine/schema/keys.ts';

/** The maximum size of a file in bytes. The largest published contracts have about 40 MB. */
export const SIZE_LIMIT = 64 * 1024 * 1024;

/**
 * Checks that a file can be read to its end: a device or a pipe may never end. @throws Error with the reason in one
 * line
 */
export function checkFile(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) throw new Error('there is no such file');
  if (!found.isFile()) throw new Error('it is not a regular file');
  if (found.size > SIZE_LIMIT) throw new Error(`it has more than ${SIZE_LIMIT} bytes`);
}

export const isElsewhere = ($ref: unknown): $ref is string => typeof $ref === 'string' && !$ref.startsWith('#');

/** True if a reference in the node leads to another file. A `$ref` in an example does not count: it is data. */
export const isInFiles = (node: unknown, hasNames = false): boolean =>
  isNode(node) &&
  (isElsewhere(node.$ref) ||
    Object.entries(node).some(
      ([key, value]) => (hasNames || !isData(key, value)) && isInFiles(value, !hasNames && isNames(key)),
    ));
