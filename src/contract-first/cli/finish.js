/** `node finish.js <folder>` finishes the contract of the program in a folder, and makes its reference page, in a process of its own: a module is loaded once in each. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , folder] = process.argv;
// The modules that the program imports, so that its contract is finished by what will read it.
const entry = createRequire(join(folder, 'src/main.js')).resolve('contract-first');
const built = (path) => import(pathToFileURL(join(entry, '../..', path)).href);
const [{ finishOwn }, { makePage }, { toFinishedFile, toPageFile }, { readFinished }, { service }] = await Promise.all([
  built('contract/finish-own.js'),
  built('contract/docs/page.js'),
  built('own-contract.js'),
  built('engine/contract/finished.js'),
  import(pathToFileURL(join(folder, 'src/generated/service.js')).href),
]);
const { contract } = service;
const finished = await finishOwn(contract, service);
writeFileSync(toFinishedFile(contract), JSON.stringify(finished));
const page = await makePage(readFinished(finished, readFileSync(contract)), new URL('clients/', contract));
writeFileSync(toPageFile(contract), page);
