/**
 * The thread that writes loads this file, whose URL ends with the folder of a domain: `domain-thread.js?orders`. Threads of tests have no
 * loader: this one needs it, for the transactions are as they stand.
 */
import { register } from 'node:module';
import '../src/contract-first/cli/typescript/register.js';

register('../scripts/test/built-program.js', import.meta.url);

const folder = new URL(import.meta.url).search.slice(1);
export const { transactions, loadCodecs } = await import(`./${folder}/writing.ts`);
