/** Writes collections and handlers into a service, compiles them, and removes those that do not compile. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import type { Operation, ReadContract } from '../../engine/contract/contract.ts';
import { buildCatalogue } from '../../engine/errors/catalogue.ts';
import { checkedName, code, toComment } from '../generate/source-text.ts';
import { toParentReason, type WrittenCollection, writeCollections } from './collection-files.ts';
import { toGroupedLines } from './grouped-lines.ts';
import { findTypeFaults, runNode } from './type-check.ts';
import { WrittenTests } from './written-tests.ts';

export interface ServiceWriting {
  /** Writes a file, unless it exists. Returns true if it was written. */
  write: (file: string, text: string) => boolean;
  /** The arguments that make Node run `generate`. */
  generate: string[];
  /** The arguments that make Node run tests. The caller adds the files. */
  test: string[];
  hasCollections: boolean;
  /** True with `--assume`: required fields without a source get the contract's examples. */
  isAssuming?: boolean;
}

/**
 * The maximum number of times that a service is compiled, in addition to twice for each collection: once without its
 * list, and once without the collection. Because each compilation only removes parts, this number is enough.
 */
const MOST_ROUNDS = 4;

const fileOf = (id: string) => `handlers/${checkedName(id).text}.ts`;
const folderOf = ({ name }: WrittenCollection) => `src/${checkedName(name).text}`;

/**
 * Returns the words of an operation in the table: the folder of its stored records, and the declared statuses that
 * neither its handler nor the server sends.
 */
function toStored({ id, replies }: Operation, collection: WrittenCollection): string {
  const catalogue = buildCatalogue({});
  const codes = [...(collection.handlers.get(id) as string).matchAll(/'(\w+)'/g)].map(([, one]) => one);
  const answered = codes.map((one) => catalogue[one as string]?.status);
  const known = new Set([...answered, ...OF_SERVER]);
  const missing = replies
    .map(({ status }) => Number(status))
    .filter((status) => status >= 402 && status < 500 && !known.has(status));
  const others = missing.length > 0 ? `; it never answers ${missing.join(', ')}` : '';
  return `stored in ${folderOf(collection)}${others}`;
}

const toHandlers = (count: number) => (count === 1 ? '1 handler is' : `${count} handlers are`);

/**
 * Returns a line that counts the stored operations among those with a written handler. Returns no line if no handler
 * was written.
 */
function toCounts(stored: number, all: number): string[] {
  if (all === 0) return [];
  if (stored === 0) return ['No operation is stored: each answers 501.'];
  if (stored === all) return [`All ${all} operations are stored.`];
  const others = all - stored === 1 ? 'the other one answers' : 'the others answer';
  return [`${stored} of ${all} operations ${stored === 1 ? 'is' : 'are'} stored; ${others} 501.`];
}

/** The error statuses that the server itself sends. */
const OF_SERVER = [403, 405, 406, 408, 413, 414, 415, 417, 422, 429, 431];

/** Writes a handler that answers 501, with the reason in a comment. */
function toEmptyHandler(id: string, reason: string | undefined): string {
  const comment = reason === undefined ? code`` : code`${toComment(`Not stored: ${reason}`)}\n`;
  return code`import { handle, notImplemented } from 'contract-first';\n\n${comment}export default handle(${id}, notImplemented);\n`
    .text;
}

export interface WrittenService {
  /** The lines of the table of all operations. Lines about assumptions and about collections without a test follow. */
  table: string[];
  /** The error message of `generate`, if it fails even after all collections were removed. */
  failure: string | undefined;
  /** The collections with tests that pass. */
  tested: WrittenCollection[];
}

/** Writes the service. */
export async function writeService(contract: ReadContract, writing: ServiceWriting): Promise<WrittenService> {
  const made = new ServiceParts(contract, writing);
  made.write();
  const failure = await made.fit();
  const tested = failure === undefined ? await made.runTests() : [];
  return { table: made.toTable(), failure, tested };
}

class ServiceParts {
  readonly #operations: Operation[];
  readonly #writing: ServiceWriting;
  readonly #reasons = new Map<string, string>();
  /** The collections that were not removed. */
  #collections: WrittenCollection[] = [];
  /** The operationIds of the handlers that were written. */
  readonly #written = new Set<string>();
  /** The operationIds of the handlers that existed before. */
  readonly #kept = new Set<string>();
  /** The folders of the collections that the service already had before this run. */
  readonly #folders: string[] = [];
  readonly #tests: WrittenTests;

  constructor(contract: ReadContract, writing: ServiceWriting) {
    this.#tests = new WrittenTests(contract, writing.write);
    this.#operations = [...contract.operations.values()];
    this.#writing = writing;
    if (!writing.hasCollections) return;
    const { collections, reasons } = writeCollections(contract, writing);
    this.#reasons = reasons;
    this.#collections = collections.filter((one) => {
      const isThere = existsSync(folderOf(one));
      if (isThere) this.#folders.push(folderOf(one));
      for (const id of isThere ? one.handlers.keys() : []) reasons.set(id, `${folderOf(one)} is there already`);
      return !isThere;
    });
  }

  write(): void {
    for (const { files } of this.#collections) for (const [file, text] of files) this.#writing.write(file, text);
    for (const { id } of this.#operations) {
      const collection = this.#collectionOf(id);
      const stored = collection?.handlers.get(id);
      const text = stored ?? toEmptyHandler(id, this.#reasons.get(id));
      if (this.#writing.write(fileOf(id), text)) this.#written.add(id);
      else {
        this.#kept.add(id);
        collection?.handlers.delete(id);
      }
    }
    for (const one of this.#collections) this.#tests.add(one);
  }

  /**
   * Removes parts that `generate` or the compiler fails on, until both succeed. Returns the error message of `generate`
   * if it still fails after all collections were removed.
   */
  async fit(): Promise<string | undefined> {
    const most = MOST_ROUNDS + 2 * this.#collections.length;
    for (let round = 0; round < most; round++) {
      const { isDone, output } = await runNode(this.#writing.generate);
      if (!isDone) {
        const lines = output.split('\n').filter((one) => one !== '' && !/^(note|warning): /.test(one));
        if (this.#collections.length === 0) return lines.join('\n');
        const [line = ''] = lines;
        if (this.#takeBackList(line)) continue;
        for (const one of this.#namedIn(line)) this.#drop(one, `generate fails for its collection: ${line}`);
        continue;
      }
      if (this.#collections.length === 0) return undefined;
      const faults = await findTypeFaults();
      if (!this.#takeBack(faults)) return undefined;
    }
    return undefined;
  }

  /**
   * Removes the handler of a list if `generate` has found a record that does not fit its reply. Returns false if the
   * message is about something else, or if no other handler shows the records.
   */
  #takeBackList(line: string): boolean {
    const [, id = ''] = /operation (\S+): response \d+: body.* and not sent: /.exec(line) ?? [];
    const collection = this.#collectionOf(id);
    const { operations } = collection?.plan ?? {};
    const isList = operations?.get('list')?.id === id && collection?.handlers.has(operations.get('get')?.id as string);
    if (!collection || !isList || !this.#written.has(id)) return false;
    this.#empty(collection, id, `a stored record may not fit its reply: ${line}`);
    this.#tests.rewrite(collection);
    return true;
  }

  /**
   * Returns the collections that a line of an error message mentions, by name or by one of their operations. Returns
   * all collections if it mentions none.
   */
  #namedIn(line: string): WrittenCollection[] {
    const words = new Set(line.match(/[\w-]+/g));
    const named = this.#collections.filter(({ name, handlers }) =>
      [name, ...handlers.keys()].some((one) => words.has(one)),
    );
    return named.length > 0 ? named : this.#collections;
  }

  /** Removes the tests, handlers and collections that do not compile. Returns true if anything was removed. */
  #takeBack(faults: ReadonlyMap<string, string>): boolean {
    let isChanged = false;
    for (const one of [...this.#collections]) {
      isChanged = this.#tests.takeBack(one, faults) || isChanged;
      const { createId = '' } = one;
      const ofCreate = () => this.#written.has(createId) && faults.get(fileOf(createId));
      const fault = faults.get(`${folderOf(one)}/domain.ts`) ?? ofCreate();
      if (fault) this.#drop(one, `its records cannot be created: ${fault}`);
      isChanged ||= Boolean(fault);
      for (const id of [...one.handlers.keys()]) {
        const ownFault = faults.get(fileOf(id));
        if (ownFault === undefined || !this.#written.has(id)) continue;
        this.#empty(one, id, `it does not compile: ${ownFault}`);
        this.#tests.rewrite(one);
        isChanged = true;
      }
    }
    return isChanged;
  }

  #drop(collection: WrittenCollection, reason: string): void {
    rmSync(folderOf(collection), { recursive: true, force: true });
    this.#tests.remove(collection);
    for (const id of [...collection.handlers.keys()]) this.#empty(collection, id, reason);
    this.#collections = this.#collections.filter((one) => one !== collection);
    const isInside = ({ plan }: WrittenCollection) => plan.parent?.name === collection.name;
    for (const one of this.#collections.filter(isInside)) this.#drop(one, toParentReason(collection.name));
  }

  #empty({ handlers }: WrittenCollection, id: string, reason: string): void {
    handlers.delete(id);
    this.#reasons.set(id, reason);
    if (this.#written.has(id)) writeFileSync(fileOf(id), toEmptyHandler(id, reason));
  }

  /** Runs the tests, and removes the tests that fail. Returns the collections with tests that pass. */
  async runTests(): Promise<WrittenCollection[]> {
    await this.#tests.run(this.#writing.test);
    return this.#collections.filter((one) => this.#tests.has(one));
  }

  #collectionOf(id: string): WrittenCollection | undefined {
    return this.#collections.find(({ handlers }) => handlers.has(id));
  }

  toTable(): string[] {
    if (!this.#writing.hasCollections) return [];
    const rows = this.#operations.map((operation) => {
      const { id, method, path } = operation;
      const collection = this.#collectionOf(id);
      const answered = collection ? toStored(operation, collection) : `501: ${this.#reasons.get(id)}`;
      const said = this.#kept.has(id) ? `left as it is: ${fileOf(id)} is there already` : answered;
      return [id, `${method} ${path}`, said] as const;
    });
    const widthOf = (column: 0 | 1) => Math.min(50, Math.max(0, ...rows.map((row) => row[column].length)));
    const widths = [widthOf(0), widthOf(1)] as const;
    const stored = rows.filter(([, , said]) => said.startsWith('stored')).length;
    return [
      ...rows.map(([id, request, said]) => `${id.padEnd(widths[0])}  ${request.padEnd(widths[1])}  ${said}`),
      '',
      ...(this.#kept.size > 0 ? [`${toHandlers(this.#kept.size)} left as before.`] : []),
      ...this.#folders.map((folder) => `left as it is: ${folder} is there already`),
      ...toCounts(stored, rows.length - this.#kept.size),
      ...this.#toAssumed(),
      ...this.#toMissing(),
      ...this.#tests.reasons,
    ];
  }

  #toAssumed(): string[] {
    const remarks = this.#collections.flatMap(({ assumed }) =>
      assumed.map((line) => {
        const end = line.indexOf(': ');
        return { name: line.slice(0, end), words: line.slice(end + 2) };
      }),
    );
    return toGroupedLines(remarks, { start: 'assumed: ', toLine: ({ name, words }) => `${name}: ${words}` });
  }

  #toMissing(): string[] {
    const remarks = this.#collections.flatMap(({ plan, handlers }) =>
      plan.unknown.filter(({ id }) => handlers.has(id)).map(({ id, when }) => ({ name: id, words: `501 if ${when}` })),
    );
    return toGroupedLines(remarks, { start: 'missing: ', toLine: ({ name, words }) => `${name} answers ${words}` });
  }
}
