/**
 * Loads the contract of a service. The build has finished it. If the service runs from its sources, the contract is
 * finished when it is loaded.
 */
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { FinishedFiles } from './contract/finish.ts';
import type { Contract } from './engine/contract/contract.ts';
import { type Finished, readFinished } from './engine/contract/finished.ts';
import { buildCodecs } from './engine/routes/stored-records.ts';
import type { Service } from './start/service.ts';
import type { AnyDomain } from './store/tables/description.ts';
import type { RecordCodecs } from './store/tables/record-codec.ts';

/** The files that the build writes next to the contract's folder. */
export const toFinishedFile = (contract: URL) => new URL('../contract.json', contract);
export const toPageFile = (contract: URL) => new URL('../docs.html.br', contract);

/** Loads the contract of a service, and its page on demand. @throws ContractError */
export async function loadServiceContract(
  service: Pick<Service, 'contract' | 'toErrorBody' | 'domain' | 'handlers'>,
): Promise<Contract> {
  const { contract } = service;
  const finished = await readServiceContract(contract, async () =>
    (await import('./contract/finish.ts')).finishFile(contract, service),
  );
  return { ...finished, loadPage: () => loadPage(finished, contract) };
}

/**
 * Loads the checks of records for the writing thread, without the checks of the contract, because the server has
 * already checked it. @throws ContractError
 */
export async function loadServiceCodecs<Domain extends AnyDomain>(
  contract: URL,
  domain: Domain,
): Promise<RecordCodecs<Domain>> {
  const finishUnchecked = async () => {
    const { loadContract } = await import('./contract/read/load-contract.ts');
    const { finish } = await import('./contract/finish.ts');
    const read = await loadContract(contract);
    return { file: finish(read, domain), yaml: read.yaml };
  };
  return buildCodecs(await readServiceContract(contract, finishUnchecked), domain);
}

async function readServiceContract(contract: URL, finish: () => Promise<FinishedFiles>): Promise<Finished> {
  const finished = toFinishedFile(contract);
  const { file, yaml } = existsSync(finished)
    ? { file: JSON.parse(readFileSync(finished, 'utf8')), yaml: readFileSync(contract) }
    : await finish();
  return readFinished(file, yaml);
}

async function loadPage(contract: Finished, file: URL): Promise<Buffer> {
  const made = toPageFile(file);
  if (existsSync(made)) return readFile(made);
  return (await import('./contract/page/page.ts')).makePage(contract, new URL('./', file));
}
