/**
 * Finds the header of an operation that names the tenant: the organisation, account or workspace that records belong
 * to.
 */
import type { Operation, Parameter } from '../../engine/contract/contract.ts';
import { keywordsOf } from '../../engine/schema/json.ts';
import { plain, wordsOf } from './envelopes.ts';
import { fitsText } from './made-ids.ts';

const TENANT = /^(tenant|organi[sz]ation|org|workspace|account|subaccount|company|merchant|realm)$/;

/** True if a parameter names a tenant. If a handler ignored it, a tenant would see the records of other tenants. */
export const isTenant = ({ in: location, name }: Parameter): boolean =>
  location === 'header' && wordsOf(name).some((word) => TENANT.test(word));

/** Returns the header with the tenant, if it is required and a text. */
export const tenantHeaderOf = ({ parameters }: Operation): Parameter | undefined =>
  parameters.find((one) => isTenant(one) && one.required && keywordsOf(one.schema).type === 'string');

/** True if the name of a field is that of the header, without `X-`: `tenantId` for `X-Tenant-Id`. */
export const isNamedLike = ({ name }: Parameter, field: string): boolean =>
  plain(name.replace(/^x-/i, '')) === plain(field);

/**
 * True if the header's schema allows an empty text. A record's tenant must not be empty, so the handler then checks it.
 */
export const mayBeEmpty = ({ schema }: Parameter): boolean => fitsText('', keywordsOf(schema));
