/**
 * Lets Node run the tests as TypeScript. The imports of the tests load the built program instead of its sources. Then
 * the program's threads need no TypeScript loader, which takes twice as long to start as the threads themselves.
 */
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  await import('../../src/contract-first/cli/typescript/register.js');
  register('./built-program.js', import.meta.url);
}
