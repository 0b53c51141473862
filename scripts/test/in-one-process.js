/**
 * Runs several test files in this process, one after the other. `TEST_FILES` lists the files. The argument is the name
 * of the run, which tap uses for the folders of its fixtures.
 */
import { pathToFileURL } from 'node:url';
import t from 'tap';

for (const file of process.env.TEST_FILES.split(' ')) {
  const imported = import(pathToFileURL(file).href);
  // Without `waitOn`, tap may have nothing to do and end before the file's first test has begun.
  t.waitOn(imported);
  await imported;
}
