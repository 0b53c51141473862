/** The program. Handles signals before it loads the rest: PID 1 has no default handlers, and would lose early signals. */
import { endOnSignals } from './operate/process/signals.ts';

endOnSignals();
await import('./start.ts');
