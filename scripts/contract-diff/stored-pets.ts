/** What a change of the contract does to the pets that are stored: those that were fine may no longer be. */
import type { Change } from './change.ts';
import { expandContract, type Json, NAME } from './expand.ts';
import { compareSchemas } from './schemas.ts';

/** What makes a schema take fewer values refuses requests; here it stands for pets that the start would refuse. */
const IS_TIGHTER = /refused|No rule/;

/** The changes of the schema Pet that some stored pets may not fit. */
export function compareStoredPets(before: string, after: string): Change[] {
  const changes = [...compareSchemas(toStoredPet(before), toStoredPet(after), 'request', 'stored pets')];
  return changes.filter(({ verdict, why }) => verdict === 'breaking' && IS_TIGHTER.test(why));
}

/** A pet is stored with the fields that it has a column for, and no other. */
function toStoredPet(yaml: string): Json {
  const { [NAME]: _name, ...schema } = expandContract(yaml).components?.schemas?.Pet ?? {};
  return { ...schema, additionalProperties: false };
}
