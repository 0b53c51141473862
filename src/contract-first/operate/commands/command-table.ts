/**
 * The commands of a service: `node dist/src/main.js keys list`. Commands load the code that they need only when they
 * are called.
 */
import { toPrintableLines } from '../../json/literals.ts';
import type { Service } from '../../start/service.ts';
import { type Command, runCommand } from './command-line.ts';
import { toKeyCommands, withDatabase } from './keys.ts';

const report = (text: string): undefined => void console.log(toPrintableLines(text));

const toCommands = (service: Service, env: NodeJS.ProcessEnv): Record<string, Command> => ({
  '--check': {
    about: 'prints the settings that a start would use, and their problems; changes nothing',
    run: async () => Number(!(await (await import('./check.ts')).checkStart(env, report, service))),
  },
  '--version': { about: 'says the version of the service', run: async () => report(service.version) },
  ...toKeyCommands(service, (makesDatabase, work) =>
    withDatabase(service, env, makesDatabase, async (store) => report(await work(store))),
  ),
  backup: {
    usage: '<file>',
    about: 'copies the SQLite database of a running server to a new file',
    takes: [1, 1],
    run: async ({ positionals: [file = ''] }) =>
      report(await (await import('./backup.ts')).backUp(file, service.name, env)),
  },
  restore: {
    usage: '<file>',
    about: 'replaces the database by a backup, while no server runs',
    takes: [1, 1],
    run: async ({ positionals: [file = ''] }) =>
      report(await (await import('./backup.ts')).restore(file, service, env)),
  },
  move: {
    usage: '<source> <target>',
    about: `copies all ${Object.keys(service.domain).join(', ')} and keys of one database into another, empty one`,
    details: 'Each is a file of SQLite, or a DATABASE_URL.',
    takes: [2, 2],
    run: async ({ positionals: [source = '', target = ''] }) =>
      report(await (await import('./move.ts')).moveAll(source, target, service, env)),
  },
});

/**
 * Runs a command, and sets the exit code. Control characters in error messages are escaped, because the messages may
 * repeat the contents of files.
 */
export async function runProgram(service: Service, args: string[]): Promise<void> {
  const program = {
    call: 'node dist/src/main.js',
    about: '[COMMAND]: it serves, or runs a command',
    notes: 'Settings are variables of the environment: see node_modules/contract-first/operate/config.md.',
    commands: toCommands(service, process.env),
  };
  try {
    process.exitCode = (await runCommand(program, args)) ?? 0;
  } catch (error) {
    console.error(toPrintableLines((error as Error).message));
    process.exitCode = 1;
  }
}
