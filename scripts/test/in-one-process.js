/** Runs files of tests one after the other in this process: the arguments are the name of the run, for tap's fixtures; `TEST_FILES` names them. */
import { pathToFileURL } from 'node:url';
import t from 'tap';

for (const file of process.env.TEST_FILES.split(' ')) {
  const imported = import(pathToFileURL(file).href);
  // Otherwise tap may find nothing left to do, and end before the file has begun.
  t.waitOn(imported);
  await imported;
}
