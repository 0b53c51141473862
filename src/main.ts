/** The program. */
import { run } from './run.ts';

await run(() => import('./generated/service.ts'));
