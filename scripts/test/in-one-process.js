/**
 * Runs several test files in this process, one after the other. `TEST_FILES` lists the files. The argument is the name
 * of the run, which tap uses for the folders of its fixtures.
 */
import { pathToFileURL } from 'node:url';
import t from 'tap';

for (const file of process.env.TEST_FILES.split(' ')) {
  const imported = import(pathToFileURL(file).href);
  // `waitOn`, because tap ends when it has nothing to do, even if the file's first test has not begun yet.
  t.waitOn(imported);
  await imported;
}
