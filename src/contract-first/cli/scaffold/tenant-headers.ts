/** Finds the header of an operation that names the tenant: the organisation, account or workspace that records belong to. */
import type { Operation, Parameter } from '../../engine/contract/contract.ts';
import { keywordsOf } from '../../engine/schema/json.ts';
import { plain, wordsOf } from './envelopes.ts';
import { fitsText } from './made-ids.ts';

const TENANT = /^(tenant|organi[sz]ation|org|workspace|account|subaccount|company|merchant|realm)$/;

/** True if a parameter names a tenant. A tenant that is ignored would see the records of another one. */
export const isTenant = ({ in: location, name }: Parameter): boolean =>
  location === 'header' && wordsOf(name).some((word) => TENANT.test(word));

/** Returns the header that each request must contain, as a text. */
export const tenantHeaderOf = ({ parameters }: Operation): Parameter | undefined =>
  parameters.find((one) => isTenant(one) && one.required && keywordsOf(one.schema).type === 'string');

/** True if a field has the name of the header: `tenantId` for `X-Tenant-Id`. */
export const isNamedLike = ({ name }: Parameter, field: string): boolean =>
  plain(name.replace(/^x-/i, '')) === plain(field);

/** True if the header may be empty, although the tenant of a record is not. */
export const mayBeEmpty = ({ schema }: Parameter): boolean => fitsText('', keywordsOf(schema));
