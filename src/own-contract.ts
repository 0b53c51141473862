/** The contract of the program: finished by the build, or, where the program runs from its sources, when it is loaded. */
import { existsSync, readFileSync } from 'node:fs';
import { CONTRACT_FILE } from './contract-file.ts';
import type { Contract } from './engine/contract/contract.ts';
import { readFinished } from './engine/contract/finished.ts';
import type { OwnParts } from './engine/routes/compiled-operations.ts';

/** Written by the build. */
const FINISHED = new URL('../contract.json', import.meta.url);

/** @throws ContractError */
export async function loadOwnContract(own: OwnParts): Promise<Contract> {
  return readFinished(await readFile(own), readFileSync(CONTRACT_FILE));
}

async function readFile(own: OwnParts) {
  if (existsSync(FINISHED)) return JSON.parse(readFileSync(FINISHED, 'utf8'));
  const { finishOwn } = await import('./engine/contract/finish-own.ts');
  return finishOwn(CONTRACT_FILE, own);
}
