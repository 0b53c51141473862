/** Runs a service as a process. */
import { endOnSignals } from './operate/process/signals.ts';
import type { Service } from './service.ts';

export type { Service } from './service.ts';

/** Handles signals before it loads the rest: PID 1 has no default handlers, and would lose early signals. */
export async function run(loadService: () => Promise<{ service: Service }>): Promise<void> {
  endOnSignals();
  try {
    const [{ runProgram }, { service }] = await Promise.all([import('./start.ts'), loadService()]);
    await runProgram(service, process.argv.slice(2));
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
}
