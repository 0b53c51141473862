/** The normal form of a contract: OpenAPI 3.1, each operation with an operationId of its own. */
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { inPlace, toCurrent, withIds } from '../../contract/read/normal-form.ts';
import { readSource } from '../../contract/read/source.ts';
import { type Document, operationsOf } from '../../engine/contract/document.ts';
import { parseWithBigints } from '../../engine/contract/numbers.ts';

/** Writes it to a new file; a contract that has this form already is copied as it is. Returns a line that says so. @throws Error */
export async function writeNormalForm(file: string, out: string): Promise<string> {
  const { yaml, json } = await readSource(file);
  const document = parseWithBigints(json) as Document;
  const { openapi } = document;
  const current = openapi.startsWith('3.0.') ? toCurrent(document) : document;
  const named = withNames(current);
  // YAML 1.1 has more words and numbers that a text must be quoted for: many programs read it.
  const text = named === document ? yaml : stringify(named, { aliasDuplicateObjects: false, version: '1.1' });
  try {
    writeFileSync(out, text, { flag: 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`${out} cannot be written: ${code === 'EEXIST' ? 'there is such a file' : message}`);
  }
  const count = idsOf(named).filter((id) => !idsOf(current).includes(id)).length;
  const changes = [
    ...(current === document ? [] : [`as OpenAPI ${current.openapi} in place of ${openapi}`]),
    ...(count > 0 ? [`with ${count} new operationId${count === 1 ? '' : 's'}`] : []),
  ];
  return `${[`The contract is written to ${out}`, ...changes].join(', ')}.`;
}

/** Keys of the paths that begin with `x-` are no paths. */
function withNames(document: Document): Document {
  const paths = Object.fromEntries(Object.entries(document.paths ?? {}).filter(([path]) => !path.startsWith('x-')));
  const named = withIds({ ...document, paths });
  return named.paths === paths ? document : { ...document, paths: { ...document.paths, ...named.paths } };
}

const idsOf = (document: Document) =>
  Object.values(document.paths ?? {})
    .flatMap((item) => operationsOf(inPlace(item, document)))
    .map(([, { operationId }]) => operationId);
