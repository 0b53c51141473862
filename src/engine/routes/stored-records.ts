/** Checks the stored records against the contract, which may have been edited since they were written. */

import { parseExactJson } from '../../json/exact-json.ts';
import type { AnyDomain } from '../../store/description.ts';
import type { Contents } from '../../store/store.ts';
import { type Contract, ContractError } from '../contract/contract.ts';
import { buildChecks, type Check } from '../schema/checks.ts';
import type { Json } from '../schema/json.ts';
import { buildResolve } from '../schema/references.ts';

/** @throws ContractError that says how many records could not be sent as the contract says */
export async function checkStoredRecords(contract: Contract, domain: AnyDomain, store: Contents): Promise<void> {
  const { name, noun, schema } = domain;
  let check: Check | undefined;
  let first: string | undefined;
  const fits = (text: string): boolean => {
    check ??= buildChecks(contract)(recordSchema(contract, schema), { name: schema }, () => {});
    const record: unknown = parseExactJson(text);
    const problems = check(record);
    if (!problems) return true;
    first ??= `${noun} ${(record as { id: unknown } | null)?.id}: ${problems.join('; ')}`;
    return false;
  };
  const count = await store.countMisfits(contract.digest, fits);
  if (count === 0) return;
  const advice = 'correct them, or undo the edit of the contract';
  throw new ContractError([`stored ${name} that do not fit its schema ${schema}: ${count} (${first}); ${advice}`]);
}

/** What every stored record must fit. */
export function recordSchema(contract: Contract, name: string): Json {
  const record = { schema: { $ref: `#/components/schemas/${name}` } };
  return buildResolve(contract.document)(record, () => {}).schema;
}
