/** Writes the tests of the collections of a new service. Removes those that do not compile or do not pass. */
import { rmSync, writeFileSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyContract } from '../../engine/contract/contract.ts';
import type { WrittenCollection } from './collection-files.ts';
import { runNode } from './type-check.ts';
import { testFileOf, writeTest } from './written-test.ts';

const SHARED_SERVER = new URL(`../../testing/shared-server${extname(import.meta.url)}`, import.meta.url);

/**
 * Writes a program that runs all tests in one process, with one server. The last test closes the server, even if a file
 * cannot be imported, because the process would otherwise not end.
 */
function toProgram(files: string[]): string {
  const imports = files.map((file) => `  await import(${JSON.stringify(pathToFileURL(file).href)});`);
  return `import { test } from 'node:test';
import { shareTestServer } from ${JSON.stringify(SHARED_SERVER.href)};
const close = shareTestServer();
try {
${imports.join('\n')}
} finally {
  test('the server closes', close);
}`;
}

/**
 * Returns the files with tests that failed in the process of all tests. Returns all files if the output does not show
 * them: the process may have ended early.
 */
function findFailed(files: string[], output: string): string[] {
  const failures = output.match(/^not ok [\s\S]*?^ {2}\.\.\.$/gm) ?? [];
  const failed = files.filter((file) => failures.some((text) => text.includes(pathToFileURL(file).href)));
  const count = Number(/^# fail (\d+)$/m.exec(output)?.[1]);
  return count > 0 && count === failed.length ? failed : files;
}

export class WrittenTests {
  readonly #contract: AnyContract;
  readonly #write: (file: string, text: string) => boolean;
  /** The collections with tests that were written and not removed. */
  readonly #left = new Set<WrittenCollection>();
  /** The list of all collections. A parent comes before the collections below its path. */
  readonly #all: WrittenCollection[] = [];
  /** The reason for each collection without a test, unless the collection itself was removed. */
  readonly #reasons = new Map<WrittenCollection, string>();

  constructor(contract: AnyContract, write: (file: string, text: string) => boolean) {
    this.#contract = contract;
    this.#write = write;
  }

  get reasons(): string[] {
    return [...this.#reasons.values()];
  }

  add(collection: WrittenCollection): void {
    this.#all.push(collection);
    const text = writeTest(this.#contract, collection, this.#all);
    if (text === undefined)
      this.#reasons.set(collection, `no test of ${collection.name}: a create does not show the record, or its parent`);
    else if (this.#write(testFileOf(collection), text)) this.#left.add(collection);
  }

  has(collection: WrittenCollection): boolean {
    return this.#left.has(collection);
  }

  /** Writes the test of a collection again, without the operations with removed handlers. */
  rewrite(collection: WrittenCollection): void {
    if (this.has(collection))
      writeFileSync(testFileOf(collection), String(writeTest(this.#contract, collection, this.#all)));
  }

  remove(collection: WrittenCollection): void {
    this.#reasons.delete(collection);
    if (this.#left.delete(collection)) rmSync(testFileOf(collection));
  }

  /** Removes the test of a collection if the test does not compile. Returns true if it was removed. */
  takeBack(collection: WrittenCollection, faults: ReadonlyMap<string, string>): boolean {
    const fault = faults.get(testFileOf(collection));
    if (fault === undefined || !this.has(collection)) return false;
    this.remove(collection);
    this.#reasons.set(collection, `no test of ${collection.name}: ${fault}`);
    return true;
  }

  /**
   * Runs the tests. First runs all of them in one process, with one server. Runs each file that fails there again in its
   * own process, removes each test that also fails alone, and keeps the reason. `test` contains the arguments of Node.
   */
  async run(test: string[]): Promise<void> {
    const files = [...this.#left].map(testFileOf);
    if (files.length === 0) return;
    const own = [...test, '--test-reporter=tap'];
    const together = [...own.filter((one) => one !== '--test'), '--input-type=module', '--eval', toProgram(files)];
    const first = await runNode(together);
    if (first.isDone) return;
    const { output } = await runNode([...own, ...findFailed(files, first.output)]);
    const failures = output.split(/^(?=not ok )/m).slice(1);
    for (const one of this.#left) {
      const failure = failures.find((text) => text.includes(resolve(testFileOf(one))));
      if (failure === undefined) continue;
      this.remove(one);
      const error = failure.replace(/^[\s\S]*?\n +error: (?:\|-\n)?([\s\S]*?)\n +(?:code|name|stack): [\s\S]*$/, '$1');
      this.#reasons.set(one, `no test of ${one.name}: ${error.replace(/\s+/g, ' ').trim()}`);
    }
  }
}
