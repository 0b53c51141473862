/** The program. */
import { run } from 'contract-first/run';

await run(() => import('./generated/service.ts'));
