/** Checks the stored records against the contract, which may have been edited since they were written. */
import { type Contract, ContractError } from '../contract/contract.ts';
import { parseExactJson } from '../json/exact-json.ts';
import { type BuildCheck, buildChecks, type Check } from '../schema/checks.ts';
import type { Json, Refuse } from '../schema/json.ts';
import { buildResolve } from '../schema/references.ts';
import { toFlat } from '../schema/subsets.ts';
import type { AnyDomain } from '../store/description.ts';
import type { Contents } from '../store/store.ts';

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

/**
 * Refuses what a request may send and no store could keep: an id, which the store gives, and text that PostgreSQL does not take. A
 * domain that was left behind when the contract was replaced is not asked.
 */
export function checkKeptFields(contract: Contract, domain: AnyDomain, buildCheck: BuildCheck, refuse: Refuse): void {
  const { schema, newSchema, columns } = domain;
  const { properties: kept = {} } = toFlat(recordSchema(contract, schema));
  if (!Object.keys(columns).every((name) => name in kept)) return;
  const { properties = {} } = toFlat(recordSchema(contract, newSchema));
  for (const [name, field] of Object.entries<Json>(properties)) {
    const place = `schema ${newSchema}: field ${name}`;
    if (name === 'id' && !field.readOnly) refuse(`${place}: every id is given by the store: leave it out`);
    if (columns[name]?.type !== 'text' || field.enum) continue;
    const check = buildCheck(field, { name: place }, () => {});
    const isTaken = (text: string) => !check(text) || !check(text.padStart(field.minLength ?? 1, 'x'));
    if (['\0', 'x\0', '\0x', 'x\0x'].some(isTaken)) {
      refuse(`${place}: may have U+0000, which PostgreSQL does not keep: give it a pattern such as ^[^\\x00]*$`);
    }
  }
}
