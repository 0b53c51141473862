/** What the thread that writes loads. Threads of tests have no loader: this one needs it, for the transactions are as they stand. */
import { register } from 'node:module';
import '../../scripts/typescript/register.js';

register('../../scripts/test/built-program.js', import.meta.url);

export const { transactions, loadShapes } = await import('./writing.ts');
