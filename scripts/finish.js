/** `node finish.js <folder>` finishes the contract of the program in a folder, in a process of its own: a module is loaded once in each. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , folder] = process.argv;
const load = (path) => import(pathToFileURL(join(folder, 'src', path)).href);
const [{ finishOwn }, { toFinishedFile }, { service }] = await Promise.all(
  ['contract/finish-own.js', 'own-contract.js', 'generated/service.js'].map(load),
);
writeFileSync(toFinishedFile(service.contract), JSON.stringify(await finishOwn(service.contract, service)));
