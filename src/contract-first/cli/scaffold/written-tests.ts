/** Writes the tests of the collections of a new service. Removes those that do not compile or do not pass. */
import { rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyContract } from '../../engine/contract/contract.ts';
import type { WrittenCollection } from './collection-files.ts';
import { runNode } from './type-check.ts';
import { testFileOf, writeTest } from './written-test.ts';

export class WrittenTests {
  readonly #contract: AnyContract;
  readonly #write: (file: string, text: string) => boolean;
  /** The collections whose tests were written and not removed. */
  readonly #left = new Set<WrittenCollection>();
  /** All collections. A parent comes before the collections below its path. */
  readonly #all: WrittenCollection[] = [];
  /** The reason for each collection that has no test, unless the collection itself was removed. */
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

  /** Writes the test of a collection again, without the operations whose handlers were removed. */
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
   * Runs the tests. First runs all of them in one process. If one fails, runs each file in its own process, removes
   * each test that fails, and keeps the reason. `test` contains the arguments of Node.
   */
  async run(test: string[]): Promise<void> {
    const files = [...this.#left].map(testFileOf);
    if (files.length === 0) return;
    const imports = files.map((file) => `await import(${JSON.stringify(pathToFileURL(file).href)});`).join('\n');
    const inOne = [...test.filter((one) => one !== '--test'), '--input-type=module', '--eval', imports];
    if ((await runNode(inOne)).isDone) return;
    const { output } = await runNode([...test, '--test-reporter=tap', ...files]);
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
