/**
 * Lets Node run the tests as TypeScript, with the built program behind their imports. So the program's threads need no loader, which would
 * take twice as long to start as they do.
 */
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  await import('../../src/contract-first/cli/typescript/register.js');
  register('./built-program.js', import.meta.url);
}
