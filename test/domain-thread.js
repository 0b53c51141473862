/**
 * The writing thread loads this file. Its URL ends with the folder of a domain, such as `domain-thread.js?orders`. The
 * transactions there are TypeScript, and the threads of tests have no loader for it, so this file registers one.
 */
import { register } from 'node:module';
import '../src/contract-first/cli/typescript/register.js';

register('../scripts/test/built-program.js', import.meta.url);

const folder = new URL(import.meta.url).search.slice(1);
export const { transactions, loadCodecs } = await import(`./${folder}/writing.ts`);
