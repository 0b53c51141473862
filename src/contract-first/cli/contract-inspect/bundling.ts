/** A contract in several files, as one. */
import { readFileSync } from 'node:fs';
import { bundle, createConfig, type NormalizedProblem, Source } from '@redocly/openapi-core';
import { stringify } from 'lossless-json';
import { toLocated } from '../../contract/located.ts';
import { readSource } from '../../contract/read/source.ts';
import { parseWithBigints } from '../../engine/contract/numbers.ts';
import { isNode } from '../../engine/schema/json.ts';
import { isNames, isValue } from '../../engine/schema/keys.ts';
import { lookUp } from '../../engine/schema/pointers.ts';
import { ContractFiles } from '../contract-files.ts';

/** Reads as the server does, with every digit. */
class Files extends ContractFiles {
  readonly read: string[] = [];

  protected override async load(file: string): Promise<Source> {
    const { json } = await readSource(file);
    this.read.push(file);
    return new Source(file, json);
  }

  override parseDocument(source: Source) {
    return { source, parsed: parseWithBigints(source.body) };
  }
}

const isElsewhere = ($ref: unknown): $ref is string => typeof $ref === 'string' && !$ref.startsWith('#');

/** Whether a reference in it leads to another file. */
export const isInFiles = (node: unknown): boolean =>
  isNode(node) && (isElsewhere(node.$ref) || Object.values(node).some(isInFiles));

export interface Bundled {
  document: unknown;
  /** The other files that are in it. */
  files: string[];
  /** A line for each reference to another file that leads to nothing. */
  missing: string[];
}

export async function bundled(file: string): Promise<Bundled> {
  const resolver = new Files(file);
  const options = { ref: file, config: await createConfig({}), externalRefResolver: resolver };
  const { bundle: made, problems } = await bundle(options);
  const files = resolver.read.slice(1).sort();
  // The bundler puts the same node in several places.
  return { document: parseWithBigints(stringify(made.parsed) as string), files, missing: problems.flatMap(toLine) };
}

function isInValue(pointer: string): boolean {
  let isName = false;
  return pointer.split('/').some((key) => {
    const isFound = !isName && isValue(key);
    isName = !isName && isNames(key);
    return isFound;
  });
}

/** Examples, and references within a file, are for others to judge. */
function toLine({ message, location }: NormalizedProblem): string[] {
  const [{ source, pointer }] = location as [{ source: Source; pointer: string }];
  const { $ref } = Object(lookUp(parseWithBigints(source.body), pointer));
  if (!isElsewhere($ref) || isInValue(pointer)) return [];
  const reason = message.replace(/^Can't resolve \$ref:?\s*(The contract cannot be served:\s*- )?/, '');
  const problem = `${pointer} refers to ${$ref}: ${reason || 'it has no such part'}`;
  return toLocated([problem], readFileSync(source.absoluteRef, 'utf8'), source.absoluteRef);
}
