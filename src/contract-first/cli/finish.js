/**
 * `node finish.js FOLDER CONTRACT` finishes the contract for the program in a folder, and writes its reference page.
 * The script runs in its own process, because `dev` finishes a contract repeatedly, and one process would not load the
 * changed modules of the service again.
 */
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , folder, contract] = process.argv;
// Loads the modules from the package that the program in `folder` imports. So the code that finishes the contract has
// the same version as the code that reads it.
const entry = createRequire(join(folder, 'src/main.js')).resolve('contract-first');
const built = (path) => import(pathToFileURL(join(entry, '../..', path)).href);
const [
  { finishFile },
  { makePage },
  { toFinishedFile, toPageFile },
  { readFinished },
  { findExampleRequest },
  { service },
] = await Promise.all([
  built('contract/finish.js'),
  built('contract/page/page.js'),
  built('service-contract.js'),
  built('engine/contract/finished.js'),
  built('cli/sandbox/first-request.js'),
  import(pathToFileURL(join(folder, 'src/generated/service.js')).href),
]);
const { file, yaml } = await finishFile(pathToFileURL(contract), service);
writeFileSync(service.contract, yaml);
const finished = readFinished(file, yaml);
const firstRequest = await findExampleRequest(finished, service);
writeFileSync(toFinishedFile(service.contract), JSON.stringify({ ...file, firstRequest }));
const page = await makePage(finished, new URL('./', service.contract));
writeFileSync(toPageFile(service.contract), page);
