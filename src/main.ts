/** The process. Signals come first: those that come while the rest is loaded would be lost by PID 1, which has no other handlers. */
import { endOnSignals } from './operate/process/signals.ts';

endOnSignals();
await import('./start.ts');
