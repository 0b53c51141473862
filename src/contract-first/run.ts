/** Runs a service as a process: serves, or runs one of its commands. */
import { endOnSignals } from './operate/process/signals.ts';
import type { Service } from './start/service.ts';

export type { Service } from './start/service.ts';

/**
 * Serves if the program is called without arguments; otherwise runs a command. A server handles signals before it loads
 * its other modules. Linux gives the process with the id 1 no default handlers, so it would lose an early signal. A
 * command does not handle signals, so a signal ends it like any other program.
 */
export async function run(loadService: () => Promise<{ service: Service }>): Promise<void> {
  const args = process.argv.slice(2);
  if (args.length === 0) endOnSignals();
  try {
    if (args.length === 0) {
      const [{ start }, { service }] = await Promise.all([import('./start/start.ts'), loadService()]);
      await start(service);
    } else {
      const [{ runProgram }, { service }] = await Promise.all([
        import('./operate/commands/command-table.ts'),
        loadService(),
      ]);
      await runProgram(service, args);
    }
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
}
