/** The program: serves, or runs one of its commands, such as `node dist/src/main.js keys`. */
import { run } from 'contract-first/run';

await run(() => import('./generated/service.ts'));
