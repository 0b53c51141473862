/** The schemas of stored records. */
import type { ReadContract } from '../engine/contract/contract.ts';
import type { Document } from '../engine/contract/document.ts';
import type { Schema } from '../engine/schema/json.ts';
import type { AnyDomain } from '../store/description.ts';
import { resolveOf } from './schema/references.ts';

/** By the names of the schemas. A collection whose schema the contract does not have is left out: it stores nothing. */
export function toRecords({ document }: ReadContract, domain: AnyDomain): Record<string, Schema> {
  const names = Object.values(domain).map(({ schema }) => schema);
  const declared = names.filter((name) => document.components?.schemas?.[name] !== undefined);
  return Object.fromEntries(declared.map((name) => [name, schemaOf(document, name)]));
}

/** A schema of the components, resolved; empty where it is not there. */
export function schemaOf(document: Document, name: string): Schema {
  const schema = { $ref: `#/components/schemas/${name}` } as Schema;
  return resolveOf(document)({ schema }, () => {}).schema;
}
