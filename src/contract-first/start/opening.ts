/** The steps of a start before the server is built: load the contract, open the store, and build the services. */
import { checkTokens } from '../engine/access/token-auth.ts';
import type { Contract } from '../engine/contract/contract.ts';
import { withPublicPath } from '../engine/contract/operator-changes.ts';
import { buildCodecs, checkStoredRecords } from '../engine/routes/stored-records.ts';
import type { ServiceParts } from '../engine/services.ts';
import type { Config } from '../operate/config.ts';
import { loadServiceContract } from '../service-contract.ts';
import type { Database } from '../store/database-url.ts';
import { openStore } from '../store/open-store.ts';
import { type Store, StoreError, type StoreLimits, StoreUnavailable } from '../store/store.ts';
import type { Service } from './service.ts';

/**
 * Loads the contract as this configuration serves it. @throws ContractError if the contract is wrong, or, in
 * production, if it accepts tokens of other issuers but the service does not define `verifyToken`
 */
export async function loadServed(
  service: Service,
  { publicPath, isProduction }: Pick<Config, 'publicPath' | 'isProduction'>,
): Promise<Contract> {
  const contract = await loadServiceContract(service);
  if (isProduction) checkTokens(contract, service.verifyToken);
  return withPublicPath(contract, publicPath);
}

/** Opens and migrates the store. @throws ContractError if stored records do not fit the contract */
export async function openServiceStore(
  { domain, transactions }: Pick<Service, 'domain' | 'transactions'>,
  contract: Contract,
  database: Database,
  limits: StoreLimits,
): Promise<Store> {
  const store = await openStore(database, domain, limits, { codecs: buildCodecs(contract, domain), transactions });
  return closeIfFailed(store, async () => {
    await checkStoredRecords(contract, domain, store);
    return store;
  });
}

/**
 * Runs the next steps of a start. If they fail, closes the store. An outage of the database becomes an error with a
 * message for the operator.
 */
export async function closeIfFailed<Made>(store: Store, start: () => Promise<Made>): Promise<Made> {
  try {
    return await start();
  } catch (error) {
    await store.close();
    if (!(error instanceof StoreUnavailable)) throw error;
    throw new StoreError(`The database cannot be used now: ${(error.cause as Error).message}.`, { cause: error });
  }
}

/** Builds the services of a team, with the values of the settings that they declare. */
export const startServices = async ({ buildServices }: Service, config: object, parts: ServiceParts): Promise<object> =>
  (await buildServices?.(config as never, parts)) ?? {};
