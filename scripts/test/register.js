/**
 * Lets Node run the tests as they stand, and the program that they import as it was built for all of them. So its threads need no
 * loader, which takes twice as long to start as they do.
 */
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  await import('../../src/contract-first/cli/typescript/register.js');
  register('./built-program.js', import.meta.url);
}
