/** The files of a contract: its references are read only below its own folder, from regular files of a bounded size, and never fetched. */
import { realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { BaseResolver, isAbsoluteUrl, ResolveError, type Source } from '@redocly/openapi-core';

/** In bytes: the largest contracts that are published have some 40 MB. */
export const SIZE_LIMIT = 64 * 1024 * 1024;

/** A device has no end, and a pipe may never have one. @throws Error that says in one line why it is not read */
export function checkFile(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) throw new Error('there is no such file');
  if (!found.isFile()) throw new Error('it is no regular file');
  if (found.size > SIZE_LIMIT) throw new Error(`it has more than ${SIZE_LIMIT} bytes`);
}

export class ContractFiles extends BaseResolver {
  readonly #contract: string;

  constructor(contract: string) {
    super();
    this.#contract = resolve(contract);
  }

  override async loadExternalRef(file: string): Promise<Source> {
    try {
      this.#check(file);
      return await this.load(file);
    } catch (error) {
      throw new ResolveError(error as Error);
    }
  }

  protected load(file: string): Promise<Source> {
    return super.loadExternalRef(file);
  }

  #check(file: string): void {
    if (isAbsoluteUrl(file)) throw new Error('it is not fetched');
    checkFile(file);
    const folder = join(realpathSync(dirname(this.#contract)), sep);
    // A link may lead elsewhere.
    if (file !== this.#contract && !realpathSync(file).startsWith(folder))
      throw new Error('it is not below the folder of the contract');
  }
}
