/** A contract with what can be set right in it, in a file. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, parseNumberAndBigInt } from 'lossless-json';
import { stringify } from 'yaml';
import { readSource } from '../../src/engine/contract/source.ts';
import { isNode } from '../../src/engine/schema/json.ts';
import { buildToLocated } from '../located.ts';
import { mend } from './mending.ts';

/** Runs with the file itself where nothing is to be changed, or where it cannot be read: that is for the judgement to tell. */
export async function withMended<T>(file: string, run: (file: string, changes: string[]) => Promise<T>): Promise<T> {
  const json = await readSource(file).then(
    (source) => source.json,
    () => 'null',
  );
  const document = parse(json, null, parseNumberAndBigInt);
  const changes = isNode(document) ? mend(document) : [];
  if (changes.length === 0) return run(file, []);
  const folder = mkdtempSync(join(tmpdir(), 'contract-use-'));
  try {
    const mended = join(folder, 'contract.yaml');
    writeFileSync(mended, stringify(document, { aliasDuplicateObjects: false }));
    return await run(mended, changes.map(buildToLocated(readFileSync(file, 'utf8'), file)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
