/** The commands of the program: `node dist/src/main.js keys list`. Each is loaded only when it is called. */
import { toPrintableLines } from '../../json/literals.ts';
import type { Service } from '../../service.ts';
import { type Command, PROGRAM, UsageError } from './command.ts';

interface Entry {
  about: string;
  load: () => Promise<Command>;
}

const COMMANDS: Record<string, Entry> = {
  '--check': {
    about: 'says what a start would use, and what is wrong with it; changes nothing',
    load: () => import('./dry-run.ts'),
  },
  '--version': { about: 'says the version of the service', load: async () => VERSION },
  '--help': { about: 'lists the commands; after one, says how it is called', load: async () => HELP },
  keys: { about: 'makes, replaces, lists and revokes API keys', load: () => import('./keys.ts') },
  backup: { about: 'copies the SQLite database of a running server', load: () => import('./backup.ts') },
  restore: { about: 'puts such a copy in the place of the database', load: () => import('./restore.ts') },
  move: { about: 'copies everything in one database into another, empty one', load: () => import('./move.ts') },
};

const VERSION: Command = {
  toUsage: () => `${PROGRAM} --version`,
  run: async ({ args, service, tell }) => {
    if (args.length > 0) throw new UsageError();
    tell(service.version);
  },
};

const HELP: Command = {
  toUsage: () => {
    const lines = Object.entries(COMMANDS).map(([name, { about }]) => `${PROGRAM} ${name.padEnd(9)}  ${about}`);
    return [`${PROGRAM.padEnd(PROGRAM.length + 10)}  serves`, ...lines].join('\n  ');
  },
  run: async ({ service, tell }) => tell(toText(HELP, service)),
};

const toText = ({ toUsage }: Command, service: Service) =>
  `Usage:\n  ${toUsage(service)}\n\nSettings are variables of the environment: see node_modules/contract-first/operate/config.md.`;

/** Sets the exit code: 1 after a failure, 2 for wrong arguments. The texts may repeat the contents of files. */
export async function runCommand(service: Service, [name = '', ...args]: string[]): Promise<void> {
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!entry) return fail(2, `There is no command ${name}: there are ${Object.keys(COMMANDS).join(', ')}.`);
  const command = await entry.load();
  const tell = (text: string) => console.log(toPrintableLines(text));
  try {
    if (args.includes('--help')) tell(toText(command, service));
    else await command.run({ args, service, env: process.env, tell });
  } catch (error) {
    if (error instanceof UsageError) fail(2, toText(command, service));
    else fail(1, (error as Error).message);
  }
}

function fail(code: number, text: string): void {
  console.error(toPrintableLines(text));
  process.exitCode = code;
}
