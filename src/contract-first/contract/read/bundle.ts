/**
 * Bundles a contract in several files into one. A reference may lead only to a regular file of a bounded size in the
 * contract's folder or below it. URLs are never fetched.
 */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  BaseResolver,
  bundle,
  createConfig,
  isAbsoluteUrl,
  type NormalizedProblem,
  ResolveError,
  Source,
} from '@redocly/openapi-core';
import { stringify } from 'lossless-json';
import { ContractError } from '../../engine/contract/contract.ts';
import { parseWithBigints } from '../../engine/contract/numbers.ts';
import { decodePath } from '../../engine/contract/path-names.ts';
import { isNode } from '../../engine/schema/json.ts';
import { isNames, isValue, lookUp } from '../../engine/schema/keys.ts';
import { toPointerToken } from '../../json/pointer.ts';
import { checkFile, isElsewhere } from './file-references.ts';

/** Loads the files of a contract for Redocly, and rejects all files outside the contract's folder. */
export class ContractFiles extends BaseResolver {
  protected readonly contract: string;

  constructor(contract: string) {
    super();
    this.contract = resolve(contract);
  }

  /**
   * Decodes a reference, because it is a URI, with %20 for a space (RFC 3986, section 2.1). A file with the undecoded
   * name has priority.
   */
  override resolveExternalRef(base: string | null, ref: string): string {
    const file = super.resolveExternalRef(base, ref);
    const decoded = decodePath(ref);
    if (decoded === undefined || isAbsoluteUrl(file) || existsSync(file)) return file;
    return super.resolveExternalRef(base, decoded);
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
    const folder = join(realpathSync(dirname(this.contract)), sep);
    // A symbolic link may lead to another folder.
    if (file !== this.contract && !realpathSync(file).startsWith(folder))
      throw new Error('it is not below the folder of the contract');
  }
}

/** The file that contains a node of the bundle, and the keys that lead to the node in that file. */
interface Origin {
  file: string;
  keys: string[];
}

/** Reads a file as JSON that keeps every digit of a number, as the server does. */
type Read = (file: string) => Promise<string>;

class ReadFiles extends ContractFiles {
  readonly origins = new Map<unknown, Origin>();
  /** The problems of the files that cannot be read, by the name of the file. */
  readonly faults = new Map<string, string[]>();
  readonly #read: Read;

  constructor(contract: string, read: Read) {
    super(contract);
    this.#read = read;
  }

  protected override async load(file: string): Promise<Source> {
    try {
      return new Source(file, await this.#read(file));
    } catch (error) {
      const { problems = [] } = error as Partial<ContractError>;
      this.faults.set(file, problems);
      throw error;
    }
  }

  override parseDocument(source: Source) {
    const parsed = parseWithBigints(source.body);
    this.#note(parsed, source.absoluteRef, []);
    return { source, parsed };
  }

  /** Remembers the file and the keys of each node, before the bundler moves the node. */
  #note(node: unknown, file: string, keys: string[]): void {
    if (!isNode(node)) return;
    this.origins.set(node, { file, keys });
    for (const [key, child] of Object.entries(node)) this.#note(child, file, [...keys, key]);
  }
}

/**
 * Redocly's configuration without rules. The configuration gets the path of this file, because Redocly loads
 * `@theme/plugin.js` from the folder of the configuration. The default is the current folder, where a third party's
 * code may be.
 */
const loadNoRules = () => createConfig({ rules: {} }, { configPath: fileURLToPath(import.meta.url) });

export interface Bundle {
  document: unknown;
  /** The files in the bundle, except the contract's main file. */
  files: string[];
  /** A problem for each reference to a missing file or target, and for each file that is not YAML. */
  missing: string[];
  /** A message for each schema that was renamed, because two files used its name for different schemas. */
  renamed: string[];
  originOf(keys: string[]): Origin;
}

export async function bundleFiles(file: string, read: Read): Promise<Bundle> {
  const resolver = new ReadFiles(file, read);
  const options = { ref: file, config: await loadNoRules(), externalRefResolver: resolver };
  const { bundle: made, problems } = await bundle(options).catch((error) => {
    const loops = findLoops(resolver.origins, dirname(resolve(file)));
    throw loops.length > 0 ? new ContractError(loops) : error;
  });
  const folder = dirname(resolve(file));
  const parsed = new Map<Source, unknown>();
  const { origins, faults } = resolver;
  const broken = [...faults].flatMap(([one, words]) => words.map((word) => `in ${relative(folder, one)}, ${word}`));
  return {
    // Copies the document, because the bundler puts the same node in several places.
    document: parseWithBigints(stringify(made.parsed) as string),
    files: [...new Set([...origins.values()].map((origin) => origin.file))].slice(1).sort(),
    missing: [...broken, ...problems.flatMap((problem) => toMissing(problem, folder, parsed))],
    renamed: [...new Set(problems.flatMap(toRenamed))],
    originOf: (keys) => originOf(made.parsed, keys, origins),
  };
}

/** Finds references that lead only to each other. The bundler throws at them without naming their location. */
function findLoops(origins: Map<unknown, Origin>, folder: string): string[] {
  const roots = new Map(
    [...origins].filter(([, { keys }]) => keys.length === 0).map(([node, { file }]) => [file, node]),
  );
  const next = (node: unknown): unknown => {
    const { $ref } = Object(node);
    const origin = origins.get(node);
    if (typeof $ref !== 'string' || !origin) return undefined;
    const [path, pointer = ''] = $ref.split('#', 2) as [string, string?];
    const file = path === '' ? origin.file : resolve(dirname(origin.file), path);
    return pointer === '' ? roots.get(file) : lookUp(roots.get(file), `#${pointer}`);
  };
  return [...origins].flatMap(([node, { file, keys }]) => {
    const seen = new Set<unknown>();
    let end = node;
    while (end !== undefined && !seen.has(end)) end = next(seen.add(end) && end);
    if (end !== node) return [];
    const pointer = `#${keys.map((key) => `/${toPointerToken(key)}`).join('')}`;
    return `in ${relative(folder, file)}, ${pointer}: $ref ${Object(node).$ref} leads back to itself`;
  });
}

/**
 * Returns the file and the keys of a node of the bundle. `origins` does not contain all nodes, so the keys after the
 * last known node are appended to that node's keys.
 */
function originOf(document: unknown, keys: string[], origins: Map<unknown, Origin>): Origin {
  let node = document;
  let origin = origins.get(document) as Origin;
  for (const key of keys) {
    node = Object(node)[key];
    origin = origins.get(node) ?? { ...origin, keys: [...origin.keys, key] };
  }
  return origin;
}

/** Matches Redocly's warning that it has renamed a component. */
const RENAMED = /Renamed (\S+) to (\S+)\.$/;

function toRenamed({ message }: NormalizedProblem): string[] {
  const [, name, other] = RENAMED.exec(message) ?? [];
  return other
    ? [`schema ${name} of another file is written as ${other}: two files have a schema ${name}, and they differ`]
    : [];
}

/**
 * Converts a problem that the bundler found to a message of the build. Returns no message for problems about examples,
 * references inside a file, and files that are not YAML, because other checks report these.
 */
function toMissing({ message, location }: NormalizedProblem, folder: string, parsed: Map<Source, unknown>): string[] {
  const [{ source, pointer }] = location as [{ source: Source; pointer: string }];
  if (!parsed.has(source)) parsed.set(source, parseWithBigints(source.body));
  const { $ref } = Object(lookUp(parsed.get(source), pointer));
  if (
    !isElsewhere($ref) ||
    isInValue(pointer) ||
    RENAMED.test(message) ||
    message.includes('The contract cannot be served')
  )
    return [];
  const reason = message.replace(/^Can't resolve \$ref:?\s*/, '') || 'it has no such part';
  return [`in ${relative(folder, source.absoluteRef)}, ${pointer}: $ref ${$ref}: ${reason}`];
}

function isInValue(pointer: string): boolean {
  let isName = false;
  return pointer.split('/').some((key) => {
    const isFound = !isName && isValue(key);
    isName = !isName && isNames(key);
    return isFound;
  });
}
