/** The schemas of stored records. */
import type { ReadContract } from '../engine/contract/contract.ts';
import type { Schema } from '../engine/schema/json.ts';
import type { AnyDomain } from '../store/description.ts';
import { resolveOf } from './schema/references.ts';

/** By the names of the schemas. A collection whose schema the contract does not have is left out: it stores nothing. */
export function toRecords({ document }: ReadContract, domain: AnyDomain): Record<string, Schema> {
  const resolve = resolveOf(document);
  const names = Object.values(domain).map(({ schema }) => schema);
  const declared = names.filter((name) => document.components?.schemas?.[name] !== undefined);
  const toRecord = (name: string) =>
    resolve({ schema: { $ref: `#/components/schemas/${name}` } as Schema }, () => {}).schema;
  return Object.fromEntries(declared.map((name) => [name, toRecord(name)]));
}
