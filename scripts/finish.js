/** `node finish.js <folder>` finishes the contract of the program in a folder, in a process of its own: a module is loaded once in each. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , folder] = process.argv;
const load = (path) => import(pathToFileURL(join(folder, 'src', path)).href);
const [{ finishOwn }, { CONTRACT_FILE }, { toErrorBody }, { domain }] = await Promise.all(
  ['engine/contract/finish-own.js', 'contract-file.js', 'errors.js', 'generated/domain.js'].map(load),
);
writeFileSync(join(folder, 'contract.json'), JSON.stringify(await finishOwn(CONTRACT_FILE, { toErrorBody, domain })));
