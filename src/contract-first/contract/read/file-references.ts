/** The files of a contract, and references from one to another. The bundler, a development tool, is needed only for these. */
import { statSync } from 'node:fs';
import { isNode } from '../../engine/schema/json.ts';
import { isData, isNames } from '../../engine/schema/keys.ts';

/** In bytes: the largest contracts that are published have some 40 MB. */
export const SIZE_LIMIT = 64 * 1024 * 1024;

/** A device has no end, and a pipe may never have one. @throws Error that says in one line why it is not read */
export function checkFile(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) throw new Error('there is no such file');
  if (!found.isFile()) throw new Error('it is no regular file');
  if (found.size > SIZE_LIMIT) throw new Error(`it has more than ${SIZE_LIMIT} bytes`);
}

export const isElsewhere = ($ref: unknown): $ref is string => typeof $ref === 'string' && !$ref.startsWith('#');

/** Whether a reference in it leads to another file. One in an example is data. */
export const isInFiles = (node: unknown, hasNames = false): boolean =>
  isNode(node) &&
  (isElsewhere(node.$ref) ||
    Object.entries(node).some(
      ([key, value]) => (hasNames || !isData(key, value)) && isInFiles(value, !hasNames && isNames(key)),
    ));
